/** The database cuts every connection, as in a restart or a failover, while turns are running. */
import { beforeAll, expect, it } from "vitest";
import { gate } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { clientAt, type Workspace } from "../../support/harness/workspace.ts";
import { effectsOf, expectSurvived, holdTurns, type Place, STEPS } from "../six-steps.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

export function databaseSuite(provide: ProvideWorkspace): void {
  let workspace: Workspace;
  let caller: Client;
  beforeAll(async () => {
    workspace = await provide();
    caller = await workspace.createCaller();
  });

  /** Cuts all sessions, and waits until each server has registered with a new one. */
  async function cutEverySession(servers: number): Promise<void> {
    const cut = await workspace.sql`
    select pid, pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and backend_type = 'client backend'`;
    const registered = async () => {
      const [row] = await workspace.sql`
      select count(*) filter (where pid = any (${cut.map(({ pid }) => Number(pid))}::int[])) as old,
        count(*) filter (where locktype = 'advisory' and granted) as held
      from pg_locks`;
      return { old: Number(row?.old), held: Number(row?.held) };
    };
    await expect.poll(registered, { interval: 50 }).toEqual({ old: 0, held: servers });
  }

  /** Cuts the sessions of so many servers in the middle of turns, which go on, exactly. */
  async function expectUnharmed(servers: number): Promise<void> {
    const last = gate();
    const places: Place[] = [
      { step: 0, where: "text" },
      { step: 3, where: "before" },
      { step: 4, where: "input" },
      { step: 5, where: "called" },
      { step: STEPS, where: "text" },
    ];
    const turns = await holdTurns(workspace, caller, "cut", places, last);
    await cutEverySession(servers);
    for (const { pause } of turns) pause.gate.open();
    // Requests in between may be answered with 503; then the chat can be read again.
    for (const { conversation } of turns) {
      await expect
        .poll(
          () =>
            conversation.read().then(
              ({ isStreaming }) => isStreaming,
              () => "later",
            ),
          { interval: 100 },
        )
        .toBe(true);
    }
    const readers = await Promise.all(turns.map(({ conversation }) => conversation.resume()));
    last.open();
    for (const [n, { script, conversation }] of turns.entries()) {
      const after = (await readers[n]?.ended) ?? [];
      expect(readers[n]?.isDone).toBe(true);
      await expectSurvived(workspace, { conversation, before: [], after });
      const effects = await effectsOf(workspace, conversation, script);
      expect(effects.length).toBeGreaterThan(0);
      expect(new Set(effects).size).toBe(effects.length);
    }
    const next = await turns[0]?.conversation.send("still there?");
    await next?.ended;
    expect(next?.isDone).toBe(true);
  }

  it("the turns go on, exactly: one server", () => expectUnharmed(1), 120_000);

  it("a stop at another server is not lost while its process does not listen", async () => {
    workspace.model.script("stop-unheard", async function* () {
      yield { text: "first" };
      yield { hang: true };
    });
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[script:stop-unheard]");
    await stream.until((chunk) => chunk.type === "text-delta");
    const other = await workspace.startServer();
    const [cut] = await workspace.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'agent-platform-engine' and query like 'listen%'
    order by backend_start limit 1`;
    expect(cut).toEqual({ pg_terminate_backend: true });
    await conversation.through(clientAt(other.url, caller)).stop();
    await stream.ended;
    expect(stream.isDone).toBe(true);
    expect(await conversation.answer()).toMatchObject({
      metadata: { finishReason: "interrupted" },
    });
  });

  it(
    "the turns go on, exactly: two servers, either of which may take the other for dead",
    () =>
      // With the other one of the test before.
      expectUnharmed(2),
    120_000,
  );
}
