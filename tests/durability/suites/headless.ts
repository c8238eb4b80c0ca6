/** Headless runs and idempotency keys when sandboxes fail, servers die, and several serve. */
import { randomUUID } from "node:crypto";
import { access, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { createSession } from "../../support/fixtures/sessions.ts";
import { expectErrorShape, sentenceOf } from "../../support/fixtures/shapes.ts";
import { blockUpdates } from "../../support/harness/block-updates.ts";
import type { Client } from "../../support/harness/clients.ts";
import { readRun, startedOf, startRun, waitForRun } from "../../support/harness/runs.ts";
import { clientAt, type Workspace } from "../../support/harness/workspace.ts";
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

  /** An account with its own idempotency key and text. */
  async function someone() {
    const caller = await workspace.createCaller(one.url);
    const { session } = await createSession(caller);
    return { ...caller, accountId: session.accountId, key: randomUUID(), marker: randomUUID() };
  }
}
