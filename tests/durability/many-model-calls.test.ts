/** Turns of many quick model calls, which share durable steps. */
import { afterAll, beforeAll, expect, it } from "vitest";
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
