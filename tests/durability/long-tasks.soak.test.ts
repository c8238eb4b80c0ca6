/** kill -9 of the server while subagents work. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import type { Client } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { assemble, expectCompleteTurn } from "../support/harness/turn-stream.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { logOf } from "./six-steps.ts";

let workspace: Workspace;
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
});
afterAll(() => workspace?.stop());

/** Kills the server, starts another one, and waits for the end of the turn there. */
async function survive(conversation: Conversation) {
  await crash(workspace.server);
  const { url } = await workspace.startServer();
  const back = conversation.through(clientAt(url, caller));
  await (await back.resume()).ended;
  const whole = await logOf(workspace, back);
  expectCompleteTurn(whole);
  const stored = await back.answer();
  expect(await assemble(whole.map(({ chunk }) => chunk))).toEqual(stored);
  return { back, whole, stored };
}

it("two parallel subagents go on where they were cut, and repeat no finished command", async () => {
  const held = gate();
  workspace.model.script("two-subagents", function* ({ step }) {
    if (step > 0) yield { text: "Both reported." };
    else {
      for (const name of ["a", "b"]) {
        yield { tool: "task", input: { task: name, instructions: `[script:sub-${name}]` } };
      }
    }
  });
  for (const name of ["a", "b"]) {
    workspace.model.script(`sub-${name}`, async function* ({ step }) {
      if (step === 20 && name === "a") await held.pass();
      if (step === 22) yield { text: `Report of ${name}` };
      else if (step === 20 && name === "b") {
        yield { tool: "bash", input: { command: "sleep 100" } };
      } else yield { tool: "bash", input: { command: `echo ${step} >> ${name}` } };
    });
  }
  const conversation = await openConversation(caller);
  await conversation.send("[script:two-subagents]");
  const linesOf = async (name: string) =>
    (await workspace.readSandboxFile(conversation.sessionId, name)).trim().split("\n");
  // One waits for its model, and the other runs its 20th command.
  await held.reached;
  const running = () => workspace.sql`
    select from tool_runs where tool_call_id like '%/21 %' and not finished`;
  await expect.poll(running).toHaveLength(1);
  const callsBefore = workspace.model.callsOf("sub-b").length;
  const surviving = survive(conversation);
  held.open();
  const { stored } = await surviving;

  const numbers = Array.from({ length: 22 }, (_, n) => String(n));
  expect(await linesOf("a")).toEqual(numbers);
  expect(await linesOf("b")).toEqual(numbers.filter((number) => number !== "20"));
  // The calls whose answers were stored are not made again.
  expect(workspace.model.callsOf("sub-b").length).toBe(callsBefore + 2);
  const reports = stored.parts.filter(({ type }) => type === "tool-task");
  expect(reports.map((part) => Object(part).output)).toEqual(
    ["a", "b"].map((name) => ({ result: `Report of ${name}`, steps: 23 })),
  );
});
