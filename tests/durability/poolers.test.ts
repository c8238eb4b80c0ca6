/** Servers behind a real PgBouncer. */
import { afterEach, describe, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startPgBouncer, withoutPgBouncer } from "../support/harness/pgbouncer.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { EFFECTS, effectsOf, expectSurvived, holdTurns, sixSteps } from "./six-steps.ts";

type Pooler = Awaited<ReturnType<typeof startPgBouncer>>;

let pooler: Pooler | undefined;
let workspace: Workspace;
afterEach(async () => {
  await workspace?.stop();
  await pooler?.close();
  pooler = undefined;
});

async function start(settings: Parameters<typeof startPgBouncer>[1], isShared = false) {
  workspace = await startWorkspace(
    async ({ DATABASE_URL = "" }) => {
      pooler ??= await startPgBouncer(DATABASE_URL, settings);
      return { DATABASE_URL: pooler.url, ...(isShared && { DIRECT_DATABASE_URL: DATABASE_URL }) };
    },
    undefined,
    { processes: 2 },
  );
  return workspace.createCaller();
}

describe.skipIf(withoutPgBouncer)(`PgBouncer (${withoutPgBouncer ?? "installed"})`, () => {
  it("in session mode may restart in the middle of turns, of which none is cut", async () => {
    const caller = await start({});
    const last = gate();
    const places = [{ step: 2, where: "called" }] as const;
    const [held] = await holdTurns(workspace, caller, "restart", places, last);
    if (!held) return expect.unreachable();
    await pooler?.stop();
    await pooler?.start();
    held.pause.gate.open();
    last.open();
    const { conversation, stream, script } = held;
    const before = await stream.ended;
    // A stream that is being read while the database is away is cut; a client resumes it.
    let after: typeof before = [];
    for (let resumed = stream; !resumed.isDone; ) {
      resumed = await conversation.resume({ startIndex: before.length + after.length });
      after = [...after, ...(await resumed.ended)];
    }
    await expectSurvived(workspace, { conversation, before, after });
    expect(await effectsOf(workspace, conversation, script)).toEqual(EFFECTS);
  });

  it("in transaction mode serves requests beside DIRECT_DATABASE_URL, which has the engine", async () => {
    const caller = await start({ pool_mode: "transaction", default_pool_size: 2 }, true);
    const last = gate();
    last.open();
    workspace.model.script("shared", sixSteps(null, last));
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[script:shared]");
    const frames = await stream.ended;
    await expectSurvived(workspace, { conversation, before: [], after: frames });
    const [pool] = ((await pooler?.command("show stats_totals")) ?? []).filter(
      ({ database }) => database === "postgres",
    );
    expect(Number(pool?.xact_count)).toBeGreaterThan(20);
  });
});
