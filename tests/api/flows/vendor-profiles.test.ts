/** The main flows of turns with servers that follow the rules of one vendor each. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeOpenAI, Script, ScriptPart } from "../../support/fakes/openai.ts";
import { PROFILES, type Profile } from "../../support/fakes/strict-rules.ts";
import { PIXEL_PNG } from "../../support/fixtures/pixel.ts";
import type { Client } from "../../support/harness/clients.ts";
import {
  type Conversation,
  type Entry,
  openConversation,
} from "../../support/harness/conversation.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";

let workspace: SharedWorkspace;
let model: FakeOpenAI;
let caller: Client;
beforeAll(async () => {
  workspace = await joinWorkspace("profiles");
  model = workspace.model;
  caller = await workspace.createCaller();
});
afterAll(() => workspace?.stop());

const done: ScriptPart = { text: "Fine." };
/** Makes the calls in the first step, and answers in the next. */
const calling = (...calls: ScriptPart[]): Script =>
  function* ({ step }) {
    if (step > 0) return yield done;
    yield { reasoning: "Hm" };
    yield* calls;
  };
const ls = { command: "ls" };
const image = (data: string): Entry["parts"] => [
  { type: "file", mediaType: "image/png", url: `data:image/png;base64,${data}` },
];

interface Flow {
  readonly script: Script;
  /** The parts of the first message. */
  readonly parts?: Entry["parts"];
  readonly meanwhile?: (conversation: Conversation, profile: Profile) => Promise<unknown>;
}

const flows: Readonly<Record<string, Flow>> = {
  "an answer after reasoning": { script: () => [{ reasoning: "Hm" }, done] },
  "calls of tools": { script: calling({ tool: "bash", input: ls }, { tool: "bash", input: ls }) },
  "calls with the ids of earlier ones": {
    script: calling({ tool: "bash", input: ls, id: "call_0" }),
  },
  "invalid input of a tool": { script: calling({ tool: "bash", rawInput: '{"command"' }) },
  "an invented tool": { script: calling({ tool: "functions.bash", input: ls }) },
  "a subagent": {
    script: calling({ tool: "task", input: { task: "Look", instructions: "Look" } }),
  },
  "an answer of reasoning only": {
    script: ({ userText }) => [{ reasoning: "Hm" }, ...(/again/.test(userText) ? [done] : [])],
  },
  "a turn that is stopped while the model thinks": {
    script: async function* ({ userText, abandoned }) {
      yield { reasoning: "Hm" };
      if (!/again/.test(userText)) await abandoned;
      yield done;
    },
    meanwhile: (conversation) => conversation.stop(),
  },
  "a refused turn": {
    script: ({ userText }) => (/again/.test(userText) ? [done] : [{ fail: 400, message: "No" }]),
  },
  "an image": { script: () => [done], parts: image(PIXEL_PNG) },
  "HTML named as an image": { script: () => [done], parts: image(btoa("<!doctype html>")) },
};

describe.each(PROFILES)("a server with the rules of %s", (profile) => {
  it.each(Object.entries(flows))("%s", async (name, { script, parts, meanwhile }) => {
    const named = `profiles-${profile}-${name.replaceAll(" ", "-")}`;
    model.script(named, script);
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    await caller.patch(path, { modelId: `fake-${profile}` });
    const text = { type: "text", text: `[script:${named}]` };
    const first = await conversation.send([
      { id: crypto.randomUUID(), parts: [text, ...(parts ?? [])] },
    ]);
    if (meanwhile) {
      await first.until(({ type }) => type === "reasoning-delta");
      await meanwhile(conversation, profile);
    }
    await first.ended;
    for (const again of ["again", "and again"]) {
      const stream = await conversation.send(`[script:${named}] ${again}`);
      await stream.ended;
      expect(stream.text, stream.text.slice(-500)).toContain("Fine.");
    }
  });

  it("a call that the server has refused for its form is made again", async () => {
    const named = `profiles-${profile}-refused-call`;
    const answers: ScriptPart[] = [
      { fail: 400, message: "tool_use_failed: Failed to call a function." },
      done,
    ];
    model.script(named, () => answers.splice(0, 1));
    const body = { prompt: `[script:${named}]`, model: `fake-${profile}` };
    const run = await waitForRun(caller, await startRun(caller, body));
    expect(run).toMatchObject({ status: "completed" });
    expect(answers).toEqual([]);
  });

  it("a result in the form that a run demands", async () => {
    const named = `profiles-${profile}-output`;
    model.script(named, function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: ls };
      else yield { tool: "submit_output", input: { total: 1 } };
    });
    const output_schema = { type: "object", properties: { total: { type: "number" } } };
    const body = { prompt: `[script:${named}]`, model: `fake-${profile}`, output_schema };
    const run = await waitForRun(caller, await startRun(caller, body));
    expect(run).toMatchObject({ status: "completed", output: { total: 1 } });
  });
});
