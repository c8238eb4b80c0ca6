/** A real PgBouncer in front of the database, in each of its modes. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { checkConnections } from "../../../lib/health/check-database.ts";
import { parseConfig } from "../../../lib/platform/config.ts";
import { PostgresDatabase } from "../../../lib/platform/database/postgres.ts";
import { createRestDatabase } from "../../../lib/platform/database/rest.ts";
import { isUnavailable } from "../../../lib/platform/database/unavailable.ts";
import { detectPooling } from "../../../packages/world-postgres/src/connection.ts";
import { Listener, openPool, Session } from "../../../packages/world-postgres/src/database.ts";
import { applyMigrations } from "../../../scripts/embedded/apply-migrations.ts";
import { connectLite } from "../../../scripts/embedded/connect-lite.ts";
import { connectPostgres } from "../../../scripts/embedded/connect-postgres.ts";
import { whenAvailable } from "../../../scripts/embedded/when-available.ts";
import { requireMigrations } from "../../../scripts/package/database.ts";
import { startPackagedParts } from "../../../scripts/package/parts.ts";
import { askAuth, sessionFor } from "../../support/harness/auth-session.ts";
import { createEngineDatabase } from "../../support/harness/engine-database.ts";
import { startPgBouncer, withoutPgBouncer } from "../../support/harness/pgbouncer.ts";
import { setting, sql, stack } from "../../support/harness/stack.ts";

Object.assign(process.env, stack.env, { LOG_LEVEL: "silent" });
const direct = setting("DATABASE_URL");
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Settings = Parameters<typeof startPgBouncer>[1];

async function startPooler(settings: Settings = {}) {
  const pooler = await startPgBouncer(direct, settings);
  closing.push(() => pooler.close());
  return pooler;
}

function connectFunctions(url: string, connections: number, keepsSession = true): PostgresDatabase {
  const database = new PostgresDatabase(url, connections, keepsSession);
  closing.push(() => database.close());
  return database;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, query_timeout: 10_000 });
  client.on("error", () => {});
  await client.connect();
  closing.push(() => client.end());
  return client;
}

const doctor = (changes: Readonly<Record<string, string>>) =>
  checkConnections(parseConfig({ ...stack.env, ...changes }), {
    installationId: undefined,
    timeoutMs: 5_000,
  });

describe.skipIf(withoutPgBouncer)(`PgBouncer (${withoutPgBouncer ?? "installed"})`, () => {
  const modes = [1, 2, 20].flatMap((size) => [0, 1].map((roundRobin) => [size, roundRobin]));
  it.each(modes)(
    "in transaction mode with %i connections is detected (round robin: %i)",
    async (size, roundRobin) => {
      const settings = { default_pool_size: size ?? 0, server_round_robin: roundRobin ?? 0 };
      for (const pool_mode of ["transaction", "statement"]) {
        const { url } = await startPooler({ pool_mode, ...settings });
        expect(await detectPooling(url, 5_000)).toBe("transaction");
        // With all of its connections open, and while others use them.
        const clients = await Promise.all(Array.from({ length: size ?? 0 }, () => connect(url)));
        const [first] = clients;
        await Promise.all(clients.map((client) => client.query("select pg_sleep(0.05)")));
        for (let round = 0; round < 5; round++) {
          const detected = detectPooling(url, 5_000);
          const busy = Promise.all(clients.map((client) => client.query("select pg_sleep(0.01)")));
          expect(await detected).toBe("transaction");
          await busy;
          expect(await detectPooling(url, 5_000)).toBe("transaction");
        }
        expect(first).toBeDefined();
      }
    },
  );

  it("in session mode is told from a direct connection, and nothing is left in either", async () => {
    const pooler = await startPooler();
    for (let round = 0; round < 5; round++) {
      expect(await detectPooling(direct, 5_000)).toBe("none");
      expect(await detectPooling(pooler.url, 5_000)).toBe("session");
    }
    const single = await startPooler({ default_pool_size: 1 });
    await expect(detectPooling(single.url, 500)).rejects.toThrow("No second connection was given");
  });

  it("in session mode with its default configuration serves requests, the engine, the REST server and migrations", async () => {
    const { url } = await startPooler();
    expect(await doctor({ DATABASE_URL: url })).toMatchObject([
      {
        status: "ok",
        detail: "PostgreSQL 17 as postgres, through a pooler in session mode, without TLS",
      },
    ]);
    const functions = connectFunctions(url, 2);
    const answer = await functions.call("installation_id", {});
    expect(answer.error).toBeNull();

    const pool = openPool(url, 2, () => {});
    closing.push(() => pool.end());
    expect(await pool.sql`select current_setting('statement_timeout') as limit`).toEqual([
      { limit: "14s" },
    ]);

    const heard: string[] = [];
    const ignore = () => {};
    const listener = new Listener(url, { pooler_test: (text) => heard.push(text) }, ignore, ignore);
    await listener.start();
    await sql`select pg_notify('pooler_test', 'heard')`;
    await expect.poll(() => heard).toEqual(["heard"]);

    const session = await new Session(url).open();
    await session`select pg_advisory_lock(7306)`;
    expect(await pool.sql`select pg_try_advisory_lock(7306) as taken`).toEqual([{ taken: false }]);

    const lite = connectLite(url);
    closing.push(() => lite.close());
    await lite.introspect({ useCache: true });

    const other = connectPostgres(url, { max: 1 });
    closing.push(() => other.end());
    await applyMigrations(other, "supabase");
    await requireMigrations({ DATABASE_URL: url });
  });

  it("in session mode gives a later client nothing of the session before it", async () => {
    const { url } = await startPooler({ default_pool_size: 1 });
    const functions = new PostgresDatabase(url, 1);
    await functions.call("installation_id", {});
    await functions.close();
    const { rows } = await (await connect(url)).query(`
      select current_user as login, current_setting('statement_timeout') as timeout,
        (select count(*)::integer from pg_prepared_statements) as prepared`);
    expect(rows).toEqual([{ login: "postgres", timeout: "0", prepared: 0 }]);
  });

  it("in transaction mode is refused with the remedy, at a start too", async () => {
    const { url } = await startPooler({ pool_mode: "transaction" });
    const remedy = "Set DIRECT_DATABASE_URL";
    expect(await doctor({ DATABASE_URL: url })).toMatchObject([
      { status: "failed", blocksStart: true, remedy: expect.stringContaining(remedy) },
    ]);
    expect(await doctor({ DATABASE_URL: url, DIRECT_DATABASE_URL: url })).toMatchObject([
      { status: "failed", settings: ["DIRECT_DATABASE_URL"] },
      { status: "ok" },
    ]);
    await expect(whenAvailable(() => requireMigrations({ DATABASE_URL: url }))).rejects.toThrow(
      remedy,
    );

    const both = { DATABASE_URL: url, DIRECT_DATABASE_URL: direct };
    expect(await doctor(both)).toMatchObject([
      { status: "ok", detail: expect.stringContaining("directly") },
      { status: "ok", detail: expect.stringContaining("through a pooler in transaction mode") },
    ]);
    await requireMigrations(both);

    const other = await createEngineDatabase();
    closing.push(() => other.drop());
    const found = await checkConnections(
      parseConfig({ ...stack.env, ...both, DIRECT_DATABASE_URL: other.url }),
      { installationId: "known", timeoutMs: 5_000 },
    );
    expect(found[0]?.detail).toContain("another database");
  });

  it.each([1, 20])(
    "in transaction mode with %i connections serves requests that leave nothing in the sessions of others",
    async (size) => {
      const { url } = await startPooler({ pool_mode: "transaction", default_pool_size: size });
      const functions = connectFunctions(url, 10, false);
      const lite = connectLite(url, false);
      closing.push(() => lite.close());
      await lite.introspect({ useCache: true });
      const expected = (await sql`select public.installation_id()::text as id`)[0]?.id;

      const seen = new Set<string>();
      const stranger = async () => {
        const client = await connect(url);
        for (let round = 0; round < 30; round++) {
          const { rows } = await client.query(`
          select concat_ws(' ', current_user, current_setting('statement_timeout'),
            current_setting('idle_in_transaction_session_timeout'),
            nullif(current_setting('request.jwt.claims', true), ''),
            (select count(*) from pg_prepared_statements)) as state`);
          seen.add(rows[0].state);
        }
      };
      const call = async () => {
        for (let round = 0; round < 30; round++) {
          const { data, error } = await functions.call("installation_id", {});
          expect([data, error]).toEqual([expected, null]);
          // An error in a function ends only its own transaction.
          const refused = await functions.call("run_of_turn", {
            turnId: "'; reset role; -- $1 \\",
          });
          expect(refused.status).toBe(400);
        }
      };
      const tenant = async (uid: string) => {
        const vars = { auth: { role: "authenticated", uid, jwt: { sub: uid } } };
        for (let round = 0; round < 30; round++) {
          const { rows } = await lite.withContext(vars, (database) =>
            database.executeQuery<{ uid: string; login: string }>({
              sql: "select auth.uid()::text as uid, current_user::text as login where $1 = $1",
              parameters: [round],
              query: { kind: "RawNode", sqlFragments: [], parameters: [] },
              queryId: { queryId: "test" },
            }),
          );
          expect(rows).toEqual([{ uid, login: "authenticated" }]);
        }
      };
      await Promise.all([
        ...Array.from({ length: 4 }, call),
        ...Array.from({ length: 4 }, stranger),
        ...Array.from({ length: 4 }, (_, place) =>
          tenant(`00000000-0000-4000-8000-00000000000${place}`),
        ),
      ]);
      expect([...seen]).toEqual(["postgres 0 0 0"]);
    },
  );

  it.each(["session", "transaction"])(
    "in %s mode serves the REST part, and sign-in there",
    async (pool_mode) => {
      const { url } = await startPooler({ pool_mode });
      const given = {
        DATABASE_URL: url,
        ...(pool_mode === "transaction" && { DIRECT_DATABASE_URL: direct }),
      };
      const dataDir = mkdtempSync(join(tmpdir(), "pooler-"));
      closing.push(() => rm(dataDir, { recursive: true }));
      const options = { dataDir, publicUrl: "http://localhost:3000", given };
      const { env, stop } = await startPackagedParts({ migrates: false, waits: false })(options);
      closing.push(stop);
      const people = Array.from({ length: 5 }, async () => {
        const { access_token: bearer } = await sessionFor(undefined, { ...stack.env, ...env });
        const user = await askAuth("GET", "user", undefined, { bearer, env });
        expect(user.status).toBe(200);
      });
      await Promise.all(people);
      const rest = createRestDatabase(env.SUPABASE_URL ?? "", env.SUPABASE_SECRET_KEY ?? "");
      const calls = Array.from({ length: 100 }, () => rest.call("installation_id", {}));
      const answers = await Promise.all(calls);
      expect(new Set(answers.map(({ error, status }) => error?.message ?? status))).toEqual(
        new Set([200]),
      );
    },
  );

  it("ends a statement of a request that no one waits for, in transaction mode too", async () => {
    const { url } = await startPooler({ pool_mode: "transaction" });
    const functions = connectFunctions(url, 1, false);
    const held = await connect(direct);
    await held.query("begin; lock table public.installation in access exclusive mode");
    const started = Date.now();
    const answer = await functions.call("installation_id", {});
    expect(isUnavailable(answer)).toBe(true);
    expect(answer.error?.code).toBe("57014");
    expect(Date.now() - started).toBeLessThan(10_000);
  });
});
