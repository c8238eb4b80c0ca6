/**
 * A PostgreSQL whose administrator is not a superuser: the roles, the missing rights, and the
 * features that work without them.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkConnections } from "../../lib/health/check-database.ts";
import { parseConfig } from "../../lib/platform/config.ts";
import { PostgresDatabase } from "../../lib/platform/database/postgres.ts";
import { type RunningPostgres, runPostgres } from "../../scripts/embedded/run-postgres.ts";
import { migrate, requireMigrations } from "../../scripts/package/database.ts";
import { startPackagedParts } from "../../scripts/package/parts.ts";
import { stack } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

const withoutPsql = (() => {
  try {
    execFileSync("psql", ["--version"]);
    return undefined;
  } catch {
    return "psql is not installed (apt-get install postgresql-client)";
  }
})();

const folder = mkdtempSync(join(tmpdir(), "roles-"));
const secret = () => registerSecret(`${randomBytes(12).toString("hex")}'`, "database password");
const password = secret();
let cluster: RunningPostgres;
/** As a provider gives it: it may create roles and databases. */
let administrator: postgres.Sql;

const as = (user: string, word: string, database: string) => {
  const url = new URL(cluster.url);
  url.username = user;
  url.password = encodeURIComponent(word);
  url.pathname = `/${database}`;
  return url.href;
};
const connect = (url: string) => postgres(url, { max: 1, onnotice: () => {} });
const service = () => as("Service Login", password, "platform");

async function withConnection<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = connect(url);
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

beforeAll(async () => {
  cluster = await runPostgres({
    dataDir: folder,
    password: secret(),
    logFile: join(folder, "log"),
  });
  const word = secret();
  await withConnection(cluster.url, async (sql) => {
    await sql.unsafe(
      `create role administrator login createrole createdb password '${word.replace("'", "''")}'`,
    );
  });
  const first = connect(as("administrator", word, "postgres"));
  await first.unsafe("create database platform");
  await first.unsafe("create database bare");
  await first.end();
  administrator = connect(as("administrator", word, "platform"));
});
afterAll(async () => {
  await administrator?.end();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

const prepare = () => {
  const {
    username,
    password: word,
    port,
  } = new URL(as("administrator", String(administrator.options.pass ?? ""), "platform"));
  const variables = ["-v", "login=Service Login", "-v", `password=${password}`];
  const target = ["-h", "127.0.0.1", "-p", port, "-U", username, "-d", "platform"];
  execFileSync("psql", [...target, ...variables, "-qf", "deploy/roles.sql"], {
    env: { ...process.env, PGPASSWORD: decodeURIComponent(word) },
    stdio: ["ignore", "pipe", "pipe"],
  });
};

describe.skipIf(withoutPsql)(`deploy/roles.sql (${withoutPsql ?? "psql is installed"})`, () => {
  it("missing rights are named one by one with statements that give them", async () => {
    const word = secret();
    await administrator.unsafe(`create role bare login password '${word.replace("'", "''")}'`);
    const settings = { DATABASE_URL: as("bare", word, "bare") };
    for (const check of [migrate, requireMigrations]) {
      await expect(check(settings)).rejects.toThrow(
        /login lacks rights.*create role service_role nologin noinherit;.*grant create on database bare to bare;/s,
      );
    }
    const admin = as("administrator", String(administrator.options.pass), "bare");
    const missing = async () => {
      const error: Error = await requireMigrations(settings).then(
        () => expect.unreachable(),
        (thrown) => thrown,
      );
      return [...error.message.matchAll(/^ {2}.*?: (.*);$/gm)].map(
        ([, statement = ""]) => statement,
      );
    };
    const named: string[] = [];
    for (let statements = await missing(); statements.length > 0; statements = await missing()) {
      named.push(statements[0] ?? "");
      await withConnection(admin, (sql) => sql.unsafe(statements[0] ?? ""));
    }
    expect(named).toHaveLength(8);
    await expect(requireMigrations(settings)).rejects.toThrow("lacks the migration");
    await administrator.unsafe("drop database bare");
    await administrator.unsafe("drop role bare, anon, authenticated, service_role");
  });

  it("prepares a database, again with the same effect, without a superuser", async () => {
    prepare();
    prepare();
    const roles = await administrator`
      select rolname as name, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as is_strong, rolcanlogin as may_login
      from pg_roles where rolname in ('anon', 'authenticated', 'service_role', 'Service Login') order by 1`;
    expect(roles.map((role) => ({ ...role }))).toEqual([
      { name: "Service Login", is_strong: false, may_login: true },
      { name: "anon", is_strong: false, may_login: false },
      { name: "authenticated", is_strong: false, may_login: false },
      { name: "service_role", is_strong: false, may_login: false },
    ]);
  });

  it("lets the login migrate, serve and run the REST part, with the same isolation", async () => {
    process.env.DATA_DIR = folder;
    const settings = { DATABASE_URL: service() };
    expect(await migrate(settings)).toBe(0);
    expect(await migrate(settings)).toBe(0);
    const parts = await startPackagedParts({ migrates: false, waits: false })({
      dataDir: folder,
      publicUrl: "http://localhost:3000",
      given: settings,
    });
    try {
      const env = { ...stack.env, ...parts.env };
      Object.assign(process.env, env);
      expect(
        await checkConnections(parseConfig(env), { installationId: undefined, timeoutMs: 5_000 }),
      ).toMatchObject([
        { status: "ok", detail: expect.stringContaining("as Service Login, directly") },
      ]);
      const functions = new PostgresDatabase(service(), 1);
      const stored = {
        p_email: "someone@example.com",
        p_name: "n",
        p_prefix: "p",
        p_hash: "0".repeat(64),
      };
      await withConnection(
        service(),
        (sql) => sql`
        select public.create_key_of_email(${stored.p_email}, ${stored.p_name}, ${stored.p_hash}, ${stored.p_prefix})`,
      );
      expect(
        (
          await functions.call("list_keys", {
            accountId: "00000000-0000-4000-8000-000000000000",
          })
        ).error,
      ).toBeNull();
      await functions.close();

      const {
        SUPABASE_URL,
        SUPABASE_SECRET_KEY: secretKey = "",
        SUPABASE_PUBLISHABLE_KEY: publicKey = "",
      } = parts.env;
      const read = async (table: string, apikey: string) => {
        const answer = await fetch(`${SUPABASE_URL}/rest/v1/${table}?select=*&limit=1`, {
          headers: { apikey, authorization: `Bearer ${apikey}` },
        });
        return { status: answer.status, body: (await answer.json()) as unknown };
      };
      expect(await read("accounts", secretKey)).toMatchObject({
        status: 200,
        body: [expect.anything()],
      });
      const tables = await withConnection(
        service(),
        (sql) => sql`
        select relname as name, relrowsecurity as is_secured from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
      );
      expect(tables.filter((table) => !table.is_secured)).toEqual([]);
      for (const { name } of tables) {
        const { status, body } = await read(name, publicKey);
        expect(status < 300 ? body : [], name).toEqual([]);
      }
      const [found] = await withConnection(
        service(),
        (sql) => sql`
        select
          (select count(*)::integer from pg_policies where not roles = '{service_role}') as other_policies,
          (select count(*)::integer from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')
            and (has_table_privilege('anon', c.oid, 'select, insert, update, delete')
              or has_table_privilege('authenticated', c.oid, 'select, insert, update, delete'))) as tables`,
      );
      expect(found).toEqual({ other_policies: 0, tables: 0 });
    } finally {
      await parts.stop();
    }
  });

  it("doctor names rows that are kept from service_role, and bin/migrate lets it through", async () => {
    await withConnection(service(), (sql) => sql`drop policy service_role on public.chats`);
    const env = { ...stack.env, DATABASE_URL: service(), EMBEDDED_SUPABASE: "true" };
    const expected = { installationId: undefined, timeoutMs: 5_000 };
    const found = await checkConnections(parseConfig(env), expected);
    expect(found).toMatchObject([
      {
        status: "failed",
        detail: expect.stringContaining("the rows of 1 tables for service_role, such as chats"),
        remedy: expect.stringContaining("bin/migrate"),
      },
    ]);
    await migrate({ DATABASE_URL: service() });
    const login = connect(service());
    await login.unsafe('revoke delete on engine.runs from "Service Login"');
    const [lacking] = await checkConnections(parseConfig(env), expected);
    expect(lacking).toMatchObject({ check: "rights", status: "failed", blocksStart: true });
    await login.unsafe(/: (grant .*)\.$/.exec(lacking?.remedy ?? "")?.[1] ?? "");
    await login.end();
    expect(await checkConnections(parseConfig(env), expected)).toMatchObject([{ status: "ok" }]);
  });
});
