/** Fields that the service does not know, as the library sends them. */
import { beforeAll, expect, it } from "vitest";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import type { PackedClient } from "../support/harness/packed-client.ts";
import { stack } from "../support/harness/stack.ts";

/** @param packed the package, installed */
export function unknownFieldsSuite(packed: () => PackedClient): void {
  let person: Person;
  beforeAll(async () => {
    person = await createPerson();
  });
  const connect = () => packed().module.createClient({ baseUrl: stack.url, apiKey: person.key });

  it("are errors where the service would ignore them, unless the request says otherwise", async () => {
    const { api } = connect();
    const body = { key_name: "mine", expire_in_days: 1 };
    const refused = await api.POST("/api/keys", { body });
    expect(refused.error?.error).toBe(
      "expire_in_days is not a known field: did you mean expires_in_days?",
    );
    const headers = { prefer: "handling=lenient" };
    const { data, response } = await api.POST("/api/keys", { body, headers });
    expect(data?.key_name).toBe("mine");
    expect(response.headers.get("x-ignored-fields")).toBe("expire_in_days");
  });

  it("are errors of a turn", async () => {
    const { sessionId, chatId } = await openConversation(person.withKey);
    const address = { sessionId, chatId };
    const more = { context: { contextLimits: 5_000 } };
    const turn = connect().streamTurn({ ...address, message: "hello", more });
    await expect(turn.next()).rejects.toMatchObject({
      status: 400,
      message: "context.contextLimits is not a known field: did you mean context.contextLimit?",
    });
  });
}
