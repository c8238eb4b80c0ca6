import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "../../lib/openapi/registry.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import { expectError, fillPath, nameOf } from "../support/fixtures/shapes.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { stack } from "../support/harness/stack.ts";
import { rows } from "./rows.ts";
import { lines } from "./table-lines.ts";
import { tableSuite, titleOf } from "./table-suite.ts";

describe("the table", () => {
  it("says how each endpoint is asked", () => {
    const named = new Set(lines.map(({ name }) => name));
    expect(Object.keys(rows).sort()).toEqual([...named].sort());
  });

  it("has every field that names an account, with every account it can name", () => {
    const due = contracts.flatMap((contract) =>
      [
        { at: contract.accountAccess, shared: "artist" },
        { at: contract.organizationAccess, shared: "organization" },
        { at: contract.artistAccess, shared: "artist" },
      ].flatMap(({ at, shared }) =>
        at
          ? ["own", shared, "foreign", "nobody", "malformed"].map(
              (whose) => `${nameOf(contract)} ${at.field}=${whose}`,
            )
          : [],
      ),
    );
    const titles = lines.map(titleOf);
    expect(due.filter((title) => !titles.includes(title))).toEqual([]);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

tableSuite(() => stack.url, rows);

describe("a chat in another session than its own answers as a missing one", () => {
  let people: Person[];
  beforeAll(async () => {
    people = await Promise.all([createPerson(), createPerson()]);
  });

  const withChat = contracts.filter(({ path }) => path.includes("{sessionId}/chats/{chatId}"));
  it.each(withChat.map((contract) => [nameOf(contract), contract] as const))(
    "%s",
    async (name, { method, path, family }) => {
      const [owner, stranger] = people as [Person, Person];
      const run = await createRunCredential(owner.id, "key");
      const ids = await rows[name]?.arrange(owner, run);
      for (const { withKey } of [owner, stranger]) {
        const { session } = await createSession(withKey);
        for (const chatId of [ids?.chatId ?? "", randomUUID()]) {
          const address = fillPath(path, { ...ids, sessionId: session.id, chatId });
          const query = new URLSearchParams(rows[name]?.query?.(ids ?? {}));
          const body = rows[name]?.body?.(ids ?? {});
          const answer = await withKey.request(method, `${address}?${query}`, body ? { body } : {});
          expectError(answer, 404, family, "Chat not found");
        }
      }
    },
  );
});
