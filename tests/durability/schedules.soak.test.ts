/**
 * A schedule that fires again and again on three servers, of which one after another is killed. The times
 * of the schedule are not waited for: each is made due as soon as the one before it has fired.
 */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { createTask } from "../support/fixtures/tasks.ts";
import type { Client } from "../support/harness/clients.ts";
import { crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

const CRASHES = 20;
const FIRINGS_BETWEEN = 3;
const SERVERS = 3;
/** More than the lease of a firing whose server has died. */
const SETTLED_WITHIN_MS = 180_000;

let workspace: Workspace;
let servers: RunningNext[];
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace({
    TEST_CONSTANTS: '{"TASK_INTERVAL_SECONDS":1}',
    ACCOUNT_ACTIVE_TURNS: "0",
  });
  servers = [workspace.server];
  while (servers.length < SERVERS) servers.push(await workspace.startServer());
  caller = await workspace.createCaller();
}, 300_000);
afterAll(() => workspace.stop());

test(
  `each firing is one run, through ${CRASHES} crashes`,
  async () => {
    const { sql } = workspace;
    const { id } = await createTask(caller, { schedule: "* * * * *", timezone: "UTC" });
    const day = 86_400_000;
    const first = Math.floor((Date.now() - day) / 60_000) * 60_000;
    const times: number[] = [];
    const hasFired = (time: number) => async () => {
      const rows = await sql`select from scheduled_firings
        where task_id = ${id} and fires_at = ${new Date(time)}`;
      expect(rows).toHaveLength(1);
    };
    const hasTurn = (time: number) => async () => {
      const rows = await sql`select from scheduled_firings f join turns t on t.effect_id = f.id
        where f.task_id = ${id} and f.fires_at = ${new Date(time)}`;
      expect(rows).toHaveLength(1);
    };
    for (let round = 0; round < CRASHES; round++) {
      for (let n = 0; n < FIRINGS_BETWEEN; n++) {
        const time = first + times.length * 60_000;
        times.push(time);
        await sql`update scheduled_prompts set next_run_at = ${new Date(time)} where id = ${id}`;
        // The server is killed before the firing, before the start of its run, or while it runs.
        if (n === FIRINGS_BETWEEN - 1) {
          const moment = [async () => {}, hasFired(time), hasTurn(time)][randomInt(3)];
          if (moment) await vi.waitFor(moment, { timeout: 60_000, interval: 5 });
          const [doomed] = servers.splice(randomInt(SERVERS), 1);
          if (doomed) await crash(doomed);
          servers.push(await workspace.startServer());
        }
        await vi.waitFor(hasFired(time), { timeout: 60_000, interval: 20 });
      }
    }

    const unsettled = async () => {
      const [row] = await sql`select count(*)::int as count from task_runs
        where task_identifier = 'scheduled-prompt' and status <> 'COMPLETED'`;
      expect(row?.count).toBe(0);
    };
    await vi.waitFor(unsettled, { timeout: SETTLED_WITHIN_MS, interval: 500 });
    const firings = await sql`
      select f.fires_at, count(t.id)::int as runs, count(distinct t.run_id)::int as ids
      from scheduled_firings f left join turns t on t.effect_id = f.id
      where f.task_id = ${id} group by f.id, f.fires_at order by f.fires_at`;
    const fired = firings.map(({ fires_at }) => fires_at.getTime());
    expect(fired).toEqual(expect.arrayContaining(times));
    expect(new Set(fired).size).toBe(fired.length);
    expect(firings.filter(({ runs, ids }) => runs !== 1 || ids !== 1)).toEqual([]);
    const [made] = await sql`select count(*)::int as turns from turns where kind = 'task'`;
    expect(made?.turns).toBe(firings.length);
  },
  30 * 60_000,
);
