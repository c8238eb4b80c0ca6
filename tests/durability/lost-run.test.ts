/** A process whose run belongs to another one while it streams an answer. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
beforeAll(async () => {
  workspace = await startWorkspace();
});
afterAll(() => workspace.stop());

it("ends its model call, which would keep its slot and its connection for ever", async () => {
  const held = gate();
  workspace.model.script("lost", async function* () {
    yield { text: "first" };
    await held.pass();
    for (;;) {
      yield { text: "more" };
      await delay(10);
    }
  });
  const conversation = await openConversation(await workspace.createCaller());
  const stream = await conversation.send("[script:lost]");
  await stream.until(({ type }) => type === "text-delta");
  await workspace.sql`
    update engine.runs set owner = ${randomUUID()} where run_id = ${stream.runId}`;
  held.open();
  await expect.poll(() => workspace.model.callsOf("lost")[0]?.outcome).toBe("abandoned");
  const { frames } = stream;
  expect(frames.filter(({ chunk }) => chunk.type === "text-delta")).toHaveLength(1);
  stream.leave();
});
