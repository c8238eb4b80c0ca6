/** How many model calls a turn makes, and which of them ends before its answer does. */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { assemble, expectCompleteTurn } from "../support/harness/turn-stream.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
beforeAll(async () => {
  workspace = await startWorkspace();
});
afterAll(() => workspace.stop());

const MAX_MODEL_CALLS = 100;

it("a turn whose model calls tools for ever ends after a hundred calls", async () => {
  workspace.model.script("endless", function* ({ step }) {
    yield {
      tool: "todo",
      input: { todos: [{ id: "1", content: `item ${step}`, status: "pending" }] },
    };
  });
  const conversation = await openConversation(await workspace.createCaller());
  const stream = await conversation.send("[script:endless]");
  await stream.ended;
  expect(stream.isDone).toBe(true);
  expectCompleteTurn(stream.frames);
  expect(workspace.model.callsOf("endless").map((call) => call.step)).toEqual(
    Array.from({ length: MAX_MODEL_CALLS }, (_, step) => step),
  );
  expect(stream.chunks.at(-2)).toEqual({
    type: "error",
    errorText: "The turn reached its limit of model calls",
  });
  const stored = await conversation.answer();
  expect(await assemble(stream.chunks)).toEqual(stored);
  const states = stored.parts.flatMap((part) => ("state" in part ? [part.state] : []));
  // The tools of the last answer are not run.
  expect(states).toEqual([
    ...Array.from({ length: MAX_MODEL_CALLS - 1 }, () => "output-available"),
    "output-error",
  ]);
});

it("a process whose run belongs to another one ends its model call, which would keep its slot for ever", async () => {
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
