/** Turns that wait for an approval: no process has them, and kill -9 of any process runs no call without or twice. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Script } from "../../support/fakes/openai.ts";
import { blockUpdates } from "../../support/harness/block-updates.ts";
import type { Client } from "../../support/harness/clients.ts";
import {
  answerApproval,
  conversationOf,
  readRun,
  type Started,
  startRun,
  waitForApprovals,
  waitForRun,
} from "../../support/harness/runs.ts";
import { assemble, expectCompleteTurn } from "../../support/harness/turn-stream.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

/** Runs one command, which must be approved. */
const running =
  (command: string): Script =>
  ({ step }) =>
    step === 0 ? [{ tool: "bash", id: "ask", input: { command } }] : [{ text: "Done" }];

/** Creates a task, which must be approved. */
const scheduling: Script = ({ step }) => {
  const input = { title: "Once", prompt: "Hello", cron: "0 9 * * MON", timezone: "UTC" };
  return step === 0 ? [{ tool: "schedule", id: "made-once", input }] : [{ text: "Done" }];
};

/** @param world the World that runs the turns; without one, our own engine. */
export function approvalsSuite(provide: ProvideWorkspace, world?: World): void {
  let workspace: Workspace;
  let caller: Client;
  beforeAll(async () => {
    workspace = await provide();
    caller = await workspace.createCaller();
  });

  const here = () => clientAt(workspace.server.url, caller);
  const start = (script: string, command = "echo run >> effects") => {
    workspace.model.script(script, running(command));
    return startRun(here(), { prompt: `[script:${script}]`, approvals: { bash: "ask" } });
  };
  const effects = ({ sessionId }: Started) => workspace.readSandboxFile(sessionId, "effects");
  /** As `expect.poll`, which no hook may call. */
  const until = <T>(check: () => Promise<T>) =>
    vi.waitFor(check, { timeout: 60_000, interval: 50 });

  const untilAsked = (run: Started) =>
    until(async () => {
      const { required_action } = await readRun(here(), run);
      expect(required_action?.approvals).toHaveLength(1);
      return required_action?.approvals ?? [];
    });

  /**
   * The run has completed, its stream asks once and equals the stored message. Returns the part of
   * the command.
   */
  async function commandOf(run: Started) {
    expect(await waitForRun(here(), run)).toMatchObject({ status: "completed", error: null });
    const conversation = conversationOf(here(), run);
    const stream = await conversation.resume({ runId: run.runId });
    expectCompleteTurn(await stream.ended);
    const types = stream.chunks.map(({ type }) => type);
    expect(types.filter((type) => type === "tool-approval-request")).toHaveLength(1);
    expect(types.filter((type) => type === "tool-approval-response")).toHaveLength(1);
    const stored = await conversation.answer();
    expect(await assemble(stream.chunks)).toEqual(stored);
    return stored.parts.find(({ type }) => type === "tool-bash");
  }

  describe("a server that dies", () => {
    let waiting: Started;
    let asked: Awaited<ReturnType<typeof waitForApprovals>>;
    let approved: Started;
    let inCommand: Started;
    let between: Started;
    let made: Started;
    let effectBefore: string;

    // One dies with all of these turns.
    beforeAll(async () => {
      const approve = async (run: Started) => {
        const [approval] = await untilAsked(run);
        await answerApproval(here(), run, approval?.id, { approved: true });
      };
      waiting = await start("killed-while-waiting");
      asked = await untilAsked(waiting);
      const waits = "echo run >> effects; while [ ! -e go ]; do sleep 0.05; done";
      inCommand = await start("killed-in-command", waits);
      await approve(inCommand);
      await until(async () => expect(await effects(inCommand)).toBe("run\n"));

      approved = await start("killed-before-command");
      await untilAsked(approved);
      const databaseUrl = workspace.env.DATABASE_URL ?? "";
      const beforeCommand = await blockUpdates(databaseUrl, {
        lock: 20_261_998,
        table: "turns",
        when: `new.loads > 1 and new.run_id = '${approved.runId}'`,
      });
      // Before any write waits: a trigger cannot be made on a table that a transaction has written to.
      const beforeRecord = await blockUpdates(databaseUrl, {
        lock: 20_261_996,
        table: "tool_runs",
        when: "new.finished and new.tool_call_id like '% made-once'",
      });
      await approve(approved);
      await until(async () => expect(await beforeCommand.waiting()).toBeGreaterThan(0));
      effectBefore = await effects(approved);

      workspace.model.script("killed-before-record", scheduling);
      const prompt = "[script:killed-before-record]";
      made = await startRun(here(), { prompt, scheduling: true });
      await approve(made);
      await until(async () => expect(await beforeRecord.waiting()).toBeGreaterThan(0));

      // A turn that waits extends its key last.
      const beforeWait = await blockUpdates(databaseUrl, {
        lock: 20_261_997,
        table: "api_keys",
        when: "new.expires_at > old.expires_at",
      });
      between = await start("killed-between");
      await until(async () => expect(await beforeWait.waiting()).toBeGreaterThan(0));

      await crash(workspace.server);
      await Promise.all([beforeCommand.drop(), beforeWait.drop(), beforeRecord.drop()]);
      await workspace.startServer();
    });

    it("between the question and the wait has asked once", async () => {
      const [question] = await waitForApprovals(here(), between);
      const denial = { approved: false, reason: "Not now" };
      await answerApproval(here(), between, question?.id, denial);
      expect(await commandOf(between)).toMatchObject({
        state: "output-denied",
        approval: { id: question?.id, reason: "Not now" },
      });
      expect(await effects(between)).toBe("");
    });

    it("after the creation of a task and before its record has created it once", async () => {
      expect(await waitForRun(here(), made)).toMatchObject({ status: "completed", error: null });
      const results = workspace.model.callsOf("killed-before-record").at(-1)?.toolResults;
      expect(results).toEqual([expect.stringContaining("next_run_at")]);
      const { sql } = workspace;
      expect(await sql`select from scheduled_prompts where title = 'Once'`).toHaveLength(1);
    });

    it("after an approval and before the command leaves it to the next server", async () => {
      expect(effectBefore).toBe("");
      expect(await commandOf(approved)).toMatchObject({ output: { exitCode: 0 } });
      expect(await effects(approved)).toBe("run\n");
    });

    it("while the approved command runs does not have it run again", async () => {
      expect(await commandOf(inCommand)).toMatchObject({
        approval: { approved: true },
        output: { error: expect.stringContaining("outcome is unknown") },
      });
      expect(await effects(inCommand)).toBe("run\n");
    });

    it("while a turn waits takes nothing with it, and the answer continues it", async () => {
      expect(await waitForApprovals(here(), waiting)).toEqual(asked);
      expect(await effects(waiting)).toBe("");
      // Only the answer can wake it.
      const { sql } = workspace;
      await sql`alter function turns_to_wake rename to all_turns_to_wake`;
      await sql`create function turns_to_wake(p_limit integer, p_due_seconds integer) returns jsonb
        language sql return '[]'::jsonb`;
      const answered = await answerApproval(here(), waiting, asked[0]?.id, { approved: true });
      expect(answered.body).toMatchObject({ status: "running" });
      expect(await commandOf(waiting)).toMatchObject({
        state: "output-available",
        approval: { id: asked[0]?.id, approved: true },
      });
      expect(await effects(waiting)).toBe("run\n");
      await sql`drop function turns_to_wake`;
      await sql`alter function all_turns_to_wake rename to turns_to_wake`;
    });
  });

  it.skipIf(world?.cannot["several processes"])(
    "one of two opposite answers at two servers wins, and the other is refused",
    async () => {
      const run = await start("two-answers");
      const one = here();
      const [asked] = await waitForApprovals(one, run);
      const other = clientAt((await workspace.startServer()).url, caller);
      const answer = (by: Client, approved: boolean) =>
        answerApproval(by, run, asked?.id, { approved });
      const answers = await Promise.all([answer(one, true), answer(other, false)]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, 409]);
      const isApproved = statuses[0] === 200;
      expect(await commandOf(run)).toMatchObject({
        state: isApproved ? "output-available" : "output-denied",
      });
      expect(await effects(run)).toBe(isApproved ? "run\n" : "");
    },
  );

  it("the deletion of the chat leaves nothing to answer", async () => {
    const run = await start("deleted");
    const [asked] = await waitForApprovals(here(), run);
    const path = `/api/sessions/${run.sessionId}/chats/${run.chatId}`;
    expect((await here().delete(path)).status).toBe(200);
    const answered = await answerApproval(here(), run, asked?.id, { approved: true });
    expect(answered.status).toBe(404);
    const [left] = await workspace.sql`
      select (select count(*)::int from approvals where id = ${asked?.id ?? ""}) as approvals,
        (select count(*)::int from required_actions) as waiting`;
    expect(left).toEqual({ approvals: 0, waiting: 0 });
    expect(await effects(run)).toBe("");
  });
}
