/** kill -9 of a server during turns that use limits, fallbacks, outputs, verdicts and files. */
import { NOTE } from "@platform/agent/prompt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gate, type ScriptPart } from "../support/fakes/openai.ts";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { readWorkspaceFile } from "../support/fixtures/workspace-files.ts";
import type { Client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { assemble, expectCompleteTurn, textOf } from "../support/harness/turn-stream.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

/** Each call of the priced model costs a dollar: its answers claim so many tokens. */
const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
const oneDollar: ScriptPart = { claims: { usage } };
const plan: ScriptPart = { tool: "todo", input: { todos: [] } };

let workspace: Workspace;

/** Starts a turn, waits until the server should die, and returns a check for afterwards. */
type Stand = (caller: Client) => Promise<(back: Client) => Promise<void>>;

const stands: Record<string, Stand> = {
  "a step that is repeated gets the note of its limit that it had": async (caller) => {
    const held = gate();
    workspace.model.script("told", async function* ({ step }) {
      if (step === 3) await held.pass();
      yield plan;
    });
    const limits = { max_steps: 4 };
    const started = await startRun(caller, { prompt: "[script:told]", limits });
    await held.reached;
    return async (back) => {
      held.open();
      const ended = await waitForRun(back, started);
      expect(ended).toMatchObject({ status: "failed", error: "limit_reached: max_steps" });
      const [first, repeated] = workspace.model.callsOf("told").slice(3);
      expect(first?.messages.at(-1)?.content).toContain(NOTE);
      expect(repeated?.messages).toEqual(first?.messages);
    };
  },

  "what a run may cost stays the same": async (caller) => {
    const held = gate();
    workspace.model.script("delegates", function* ({ step }) {
      yield oneDollar;
      const work = { task: "Work", instructions: "[script:works]" };
      if (step === 0) for (let n = 0; n < 4; n++) yield { tool: "task", input: work };
      else yield { text: "Done." };
    });
    let answered = 0;
    workspace.model.script("works", async function* () {
      if (++answered === 3) await held.pass();
      yield oneDollar;
      yield plan;
    });
    const limits = { max_cost_usd: 6.5 };
    const body = { prompt: "[script:delegates]", model: "priced", limits };
    const started = await startRun(caller, body);
    await held.reached;
    return async (back) => {
      held.open();
      const ended = await waitForRun(back, started);
      expect(ended).toMatchObject({ status: "failed", error: "limit_reached: max_cost_usd" });
      const made = workspace.model.callsOf("delegates").length + answered;
      const [row] = await workspace.sql`
        select sum(e.cost_usd)::float as usd
        from usage_entries e join turns t on t.id::text = e.source
        where t.run_id = ${started.runId}`;
      expect(row?.usd).toBeLessThan(made);
      // Also with the calls that the crash has cut, whose usage is not known.
      expect(made).toBeLessThanOrEqual(limits.max_cost_usd + 1);
    };
  },

  "the stream of a fallback that answers stays consistent": async (caller) => {
    const held = gate();
    workspace.model.script("falls-back", async function* ({ model }) {
      yield { text: `${model} says ` };
      if (model !== "spare") yield { cut: true };
      else await held.pass();
      yield { text: "all" };
    });
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    const options = { modelId: "main-crash", fallback_models: ["spare"] };
    expect((await caller.patch(path, options)).status).toBe(200);
    const before = await conversation.send("[script:falls-back]");
    await held.reached;
    await before.until((chunk) => chunk.type === "text-delta" && chunk.delta.startsWith("spare"));
    return async (back) => {
      held.open();
      const there = conversation.through(back);
      const stream = await there.resume({ runId: before.runId });
      await stream.ended;
      expectCompleteTurn(stream.frames);
      expect(stream.frames.slice(0, before.frames.length)).toEqual(before.frames);
      const answer = await there.answer();
      expect(textOf(answer)).toBe("spare says all");
      expect(answer.metadata).toMatchObject({ modelId: "spare" });
      expect(await assemble(stream.chunks)).toEqual(answer);
    };
  },

  "corrections of an output and requests for it count": async (caller) => {
    const held = gate();
    let calls = 0;
    workspace.model.script("corrected", async function* () {
      const call = calls++;
      if (call === 3) await held.pass();
      if (call === 0) yield { text: "Done." };
      else yield { tool: "submit_output", input: { n: "many" } };
    });
    const output_schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
    };
    const started = await startRun(caller, { prompt: "[script:corrected]", output_schema });
    await held.reached;
    return async (back) => {
      held.open();
      expect(await waitForRun(back, started)).toMatchObject({
        status: "failed",
        error: "output_invalid: /n must be integer",
        output: null,
      });
      // One stop, four invalid outputs, and the call that the crash has cut.
      expect(workspace.model.callsOf("corrected")).toHaveLength(6);
    };
  },

  "a verdict counts, its judge is paid once, and an image stays in the request": async (caller) => {
    const held = gate();
    const image = await makeImage();
    const drawing = `echo ${Buffer.from(image).toString("base64")} | base64 -d > cover.png`;
    let answers = 0;
    let judged = 0;
    workspace.model.script("judged", async function* ({ tools }) {
      if (tools.length === 0) {
        const satisfied = ++judged > 1;
        yield { text: JSON.stringify({ satisfied, missing: satisfied ? [] : ["Rates"] }) };
        return;
      }
      answers++;
      if (answers === 1) yield { tool: "bash", input: { command: drawing } };
      else if (answers === 2) yield { tool: "read", input: { filePath: "cover.png" } };
      else {
        if (answers === 4) await held.pass();
        yield { text: "Done." };
      }
    });
    const outcome = { rubric: "It has rates.", max_iterations: 2 };
    const body = { prompt: "[script:judged]", outcome, model: "fake-vision" };
    const started = await startRun(caller, body);
    await held.reached;
    return async (back) => {
      held.open();
      expect(await waitForRun(back, started)).toMatchObject({
        status: "completed",
        verdicts: [
          { iteration: 1, verdict: "unsatisfied", missing: ["Rates"] },
          { iteration: 2, verdict: "satisfied", missing: [] },
        ],
      });
      expect(judged).toBe(2);
      const calls = workspace.model.callsOf("judged");
      const [cut, repeated] = calls.filter(({ tools }) => tools.length > 0).slice(3);
      expect(repeated?.messages).toEqual(cut?.messages);
      const images = JSON.stringify(repeated?.messages).match(/data:image\/jpeg;base64/g);
      expect(images).toHaveLength(1);
    };
  },

  "another server stores the files of a turn": async (caller) => {
    const held = gate();
    workspace.model.script("wrote", async function* ({ step }) {
      if (step === 0) {
        yield { tool: "bash", input: { command: "mkdir workspace; echo 1 > workspace/a" } };
      } else {
        await held.pass();
        yield { text: "Done." };
      }
    });
    const started = await startRun(caller, { prompt: "[script:wrote]" });
    await held.reached;
    return async (back) => {
      held.open();
      expect(await waitForRun(back, started)).toMatchObject({ status: "completed" });
      expect(await readWorkspaceFile(back, "a")).toBe("1\n");
    };
  },
};

describe("after a crash", () => {
  const checks = new Map<string, () => Promise<void>>();
  // One server dies with all these turns.
  beforeAll(async () => {
    workspace = await startWorkspace({
      MODELS: "fake-model,fake-vision,priced,main-crash,spare",
      MODEL_PRICES: JSON.stringify({ priced: { input: 500, output: 500 } }),
    });
    const doomed = workspace.server;
    const standing = await Promise.all(
      Object.entries(stands).map(async ([title, stand]) => {
        const caller = await workspace.createCaller();
        return { title, caller, check: await stand(caller) };
      }),
    );
    await crash(doomed);
    const { url } = await workspace.startServer();
    for (const { title, caller, check } of standing) {
      checks.set(title, () => check(clientAt(url, caller)));
    }
  });
  afterAll(() => workspace?.stop());

  it.each(Object.keys(stands))("%s", (title) => checks.get(title)?.());
});
