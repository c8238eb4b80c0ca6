/** Headless runs and idempotency keys when sandboxes fail, servers die, and several serve. */
import { randomUUID } from "node:crypto";
import { access, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { gate } from "../../support/fakes/openai.ts";
import { createSession } from "../../support/fixtures/sessions.ts";
import { expectErrorShape, sentenceOf } from "../../support/fixtures/shapes.ts";
import { blockUpdates } from "../../support/harness/block-updates.ts";
import type { Client } from "../../support/harness/clients.ts";
import {
  conversationOf,
  readRun,
  startedOf,
  startRun,
  waitForRun,
} from "../../support/harness/runs.ts";
import { expectCompleteTurn } from "../../support/harness/turn-stream.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import { type ProvideWorkspace, twoServers } from "./provide-workspace.ts";

export function headlessSuite(provide: ProvideWorkspace): void {
  let workspace: Workspace;
  let one: RunningNext;
  let other: RunningNext;
  beforeAll(async () => {
    workspace = await provide();
    [one, other] = await twoServers(workspace);
  });

  const databaseUrl = () => workspace.env.DATABASE_URL ?? "";

  const post = (caller: Client, key: string, body: unknown) =>
    caller.post("/api/chat/runs", body, { headers: { "idempotency-key": key } });

  const rowsOf = async (marker: string) => {
    const rows = await workspace.sql`
    select t.id, t.status, t.run_id, t.session_id from turns t
    join messages m on m.chat_id = t.chat_id and m.role = 'user'
    where m.parts::text like ${`%${marker}%`}`;
    return rows;
  };

  describe("a sandbox that cannot be had", () => {
    it("leaves nothing behind, and the same key may be tried again", async () => {
      const { id, caller } = await workspace.createPerson(one.url);
      // The server has found its folder; from here on nothing can be made in it.
      await waitForRun(caller, await startRun(caller, { prompt: "hello" }));
      const folder = join(workspace.env.DATA_DIR ?? "", "sandboxes");
      await rename(folder, `${folder}.away`);
      await writeFile(folder, "no folder");
      const key = randomUUID();
      const marker = randomUUID();
      const failed = await post(caller, key, { prompt: marker });
      await rm(folder);
      await rename(`${folder}.away`, folder);

      expect(failed.status).toBe(502);
      expectErrorShape(failed, "message");
      expect(sentenceOf(failed)).toBe("Failed to provision sandbox");
      expect(failed.headers.get("x-error-code")).toBe("upstream_error");
      const [left] = await workspace.sql`
      select (select count(*)::int from sessions s where s.account_id = ${id} and not exists (
          select from turns t where t.session_id = s.id and t.status = 'completed')) as sessions,
        (select count(*)::int from api_keys
          where account_id = ${id} and scope = 'run' and revoked_at is null) as keys,
        (select count(*)::int from messages where parts::text like ${`%${marker}%`}) as messages`;
      expect(left).toEqual({ sessions: 0, keys: 0, messages: 0 });

      const run = startedOf(await post(caller, key, { prompt: marker }));
      expect((await waitForRun(caller, run)).status).toBe("completed");
      await access(join(folder, run.sessionId, "home"));
    });
  });

  describe("two servers", () => {
    it("answer one key with one effect: ten requests to both, then a repetition to each", async () => {
      const caller = await workspace.createCaller(one.url);
      const servers = [caller, clientAt(other.url, caller)];
      const key = randomUUID();
      const marker = randomUUID();
      const send = (n: number) => post(servers[n % 2] ?? caller, key, { prompt: marker });
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => send(n)));
      expect(answers.filter(({ status }) => ![202, 409].includes(status))).toEqual([]);
      expect(await rowsOf(marker)).toHaveLength(1);
      const repeated = await Promise.all([send(0), send(1)]);
      const texts = [...answers.filter(({ status }) => status === 202), ...repeated];
      expect(new Set(texts.map(({ text }) => text)).size).toBe(1);
      for (const answer of repeated) {
        expect(answer.headers.get("idempotency-replayed")).toBe("true");
        expect(await waitForRun(caller, startedOf(answer))).toMatchObject({ status: "completed" });
      }
    });

    it("a run that has not begun is queued, and says so everywhere", async () => {
      const caller = await someone();
      // Each step of the run meets a database that shuts down.
      await workspace.sql.unsafe(`
        create function refuse_begin() returns trigger language plpgsql as $$
          begin raise exception 'not yet' using errcode = '57P01'; end $$;
        create trigger refuse_begin before update on turns for each row
          when (new.account_id = '${caller.accountId}' and new.status = 'running')
          execute function refuse_begin()`);
      const run = await startRun(caller, { prompt: "hello" });
      expect((await readRun(clientAt(other.url, caller), run)).status).toBe("queued");
      await workspace.sql.unsafe("drop function refuse_begin cascade");
      expect((await waitForRun(caller, run)).status).toBe("completed");
    });
  });

  describe("a request that takes its time", () => {
    it("keeps its key for as long as its server lives", async () => {
      const slow = await someone();
      const leaseOf = async () => {
        const [row] = await workspace.sql`
        select lease_until from idempotency_keys where account_id = ${slow.accountId}`;
        return Number(row?.lease_until);
      };
      const blocked = await blockUpdates(databaseUrl(), {
        lock: 7_003,
        table: "sessions",
        when: `new.account_id = '${slow.accountId}' and new.sandbox_state is not null`,
      });
      const answer = post(slow, slow.key, { prompt: slow.marker });
      await expect.poll(blocked.waiting, { interval: 20 }).toBe(1);
      const first = await leaseOf();
      await expect.poll(leaseOf, { interval: 50 }).toBeGreaterThan(first);
      await blocked.release();
      expect(await waitForRun(slow, startedOf(await answer))).toMatchObject({
        status: "completed",
      });
      expect(await leaseOf()).toBe(0);
    });
  });

  describe("when a server is killed", () => {
    it("its runs go on under their ids, and repeated requests find what they have done", async () => {
      const [caller, early, late] = await Promise.all([someone(), someone(), someone()]);

      // A run in the middle of its answer.
      const held = gate();
      workspace.model.script("cut", async function* () {
        yield { text: "first" };
        await held.pass();
        yield { text: " second" };
      });
      const cut = await startRun(caller, { prompt: "[script:cut]" });
      await held.reached;

      // A request that has made session and claim, and not started its run.
      const beforeRun = await blockUpdates(databaseUrl(), {
        lock: 7_001,
        table: "sessions",
        when: `new.account_id = '${early.accountId}' and new.sandbox_state is not null`,
      });
      // A request that has done all it is to do, and not answered.
      const beforeAnswer = await blockUpdates(databaseUrl(), {
        lock: 7_002,
        table: "idempotency_keys",
        when: `new.account_id = '${late.accountId}' and new.response is not null`,
      });
      const send = (to: typeof early, url: string) =>
        post(clientAt(url, to), to.key, { prompt: to.marker });
      const answers = [send(early, one.url), send(late, one.url)].map((answer) =>
        answer.catch(() => "died"),
      );
      for (const blocked of [beforeRun, beforeAnswer]) {
        await expect.poll(blocked.waiting, { interval: 20 }).toBe(1);
      }
      const rival = await send(early, other.url);
      expect([rival.status, rival.headers.get("retry-after")]).toEqual([409, "1"]);
      const [unstarted] = await rowsOf(early.marker);
      expect(unstarted).toMatchObject({ status: "queued", run_id: null });
      await expect
        .poll(() => rowsOf(late.marker), { interval: 20 })
        .toMatchObject([{ status: "completed" }]);
      const [done] = await rowsOf(late.marker);

      await crash(one);
      expect(await Promise.all(answers)).toEqual(["died", "died"]);
      await beforeRun.drop();
      await beforeAnswer.drop();

      const survivor = clientAt(other.url, caller);
      expect((await readRun(survivor, cut)).status).toBe("running");
      const stream = await conversationOf(survivor, cut).resume({ startIndex: 0 });
      held.open();
      expect((await waitForRun(survivor, cut)).status).toBe("completed");
      expectCompleteTurn(await stream.ended);

      const repeat = async (to: typeof early) => {
        // Until the dead server's lease has run out.
        await expect
          .poll(async () => (await send(to, other.url)).status, { interval: 250 })
          .not.toBe(409);
        const answer = await send(to, other.url);
        expect(answer.headers.get("idempotency-replayed")).toBe("true");
        const run = startedOf(answer);
        expect(await waitForRun(clientAt(other.url, to), run)).toMatchObject({
          status: "completed",
        });
        return run;
      };
      const [earlyRun, lateRun] = await Promise.all([repeat(early), repeat(late)]);
      expect(lateRun.runId).toBe(done?.run_id);
      expect(earlyRun.sessionId).toBe(unstarted?.session_id);
      for (const { marker } of [early, late]) {
        expect(await rowsOf(marker)).toHaveLength(1);
        expect(workspace.model.calls.filter(({ userText }) => userText === marker)).toHaveLength(1);
      }
    }, 120_000);
  });

  /** With an account, an idempotency key and a text of their own. */
  async function someone() {
    const caller = await workspace.createCaller(one.url);
    const { session } = await createSession(caller);
    return { ...caller, accountId: session.accountId, key: randomUUID(), marker: randomUUID() };
  }
}
