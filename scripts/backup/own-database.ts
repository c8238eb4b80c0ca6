/**
 * `bin/backup` and `bin/restore`: the database of `DATABASE_URL`, as `pg_dump` and `pg_restore` copy it, and
 * `DATA_DIR`.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Sql } from "postgres";
import { dataDirOf } from "../data-dir.ts";
import { connectPostgres } from "../embedded/connect-postgres.ts";
import { guardProcess } from "../embedded/guard-process.ts";
import { directUrl } from "../package/database.ts";
import { type BackupHeader, DUMP } from "./archive-format.ts";
import { describeDatabase, refuseSecond, whileNoToolRuns } from "./copy-cluster.ts";
import { refuseHosted } from "./preconditions.ts";
import { restoreArchive } from "./restore-archive.ts";
import { archivePath, type CopyDatabase, writeBackup } from "./write-backup.ts";

type Tool = "pg_dump" | "pg_restore";
const CONNECTION = { max: 1, idle_timeout: 0, max_lifetime: null };
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** @returns the exit code */
export async function backUpOwn([given]: readonly string[]): Promise<number> {
  refuseHosted();
  const url = directUrl(process.env);
  const dataDir = dataDirOf(process.env);
  const file = archivePath(given, dataDir);
  if (!existsSync(join(dataDir, "secrets.json"))) {
    throw new Error(`There is no installation in ${dataDir}. Set DATA_DIR to its folder.`);
  }
  return writeBackup(file, dataDir, async (signal) => ({
    copy: (...parts) => dumpDatabase({ url, draft: `${file}.dump`, signal }, ...parts),
    stop: async () => {},
  }));
}

/** Dumps the one moment at which the files of sandboxes are linked. */
async function dumpDatabase(
  { url, draft, signal }: { url: string; draft: string; signal: AbortSignal },
  ...[archive, describe, freeze]: Parameters<CopyDatabase>
): Promise<void> {
  const session = connectPostgres(url, CONNECTION);
  const locker = connectPostgres(url, CONNECTION);
  try {
    await refuseSecond(session);
    const database = await describeDatabase(session);
    const pgDump = await majorOf("pg_dump", database.postgres);
    const [row] = await session`select current_user as login`;
    await describe({ format: 2, ...database, pgDump, login: String(row?.login) });

    // Of a backup that was killed. `pg_dump` keeps the mode of a file.
    await rm(draft, { force: true });
    await (await open(draft, "wx", 0o600)).close();
    await session.begin("isolation level repeatable read read only", async (tx) => {
      await tx`select set_config('idle_in_transaction_session_timeout', '0', true)`;
      const [snapshot] = await whileNoToolRuns(locker, async () => {
        const exported = await tx`select pg_export_snapshot() as id`;
        freeze();
        return exported;
      });
      const options = ["--format=custom", "--compress=1", "--no-owner", `--file=${draft}`];
      await runTool("pg_dump", [...options, `--snapshot=${snapshot?.id}`], { url, signal });
    });
    await archive.addFile(draft, DUMP);
  } finally {
    await rm(draft, { force: true });
    await locker.end({ timeout: 1 });
    await session.end({ timeout: 1 });
  }
}

/** @returns the exit code */
export async function restoreOwn([given]: readonly string[]): Promise<number> {
  if (given === undefined) {
    console.error(
      "Usage: bin/restore FILE, with DATABASE_URL of an empty database and DATA_DIR set to an empty or a new folder.",
    );
    return 2;
  }
  refuseHosted();
  const url = directUrl(process.env);
  const sql = connectPostgres(url, CONNECTION);
  try {
    const target = await examineTarget(sql);
    const pgRestore = await majorOf("pg_restore", 0);
    return await restoreArchive(given, "bin/server", {
      check: (header) => refuseUnfit(header, target, pgRestore),
      complete: async (draft, signal) => {
        await createRoles(sql);
        await load(join(draft, DUMP), { url, signal, existing: target.existing });
      },
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

interface Target {
  readonly major: number;
  readonly login: string;
  /** Schemas and extensions that the owner of the database has created. */
  readonly existing: readonly string[];
}

/** @throws Error when the database has a table */
async function examineTarget(sql: Sql): Promise<Target> {
  const [used] = await sql`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and not exists (
      select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    limit 1`;
  if (used) {
    throw new Error(
      `The database of DATABASE_URL is not empty: it has ${used.name}. Create a new one, and name it.`,
    );
  }
  const [target] = await sql`
    select current_setting('server_version_num')::int / 10000 as major, current_user as login`;
  const existing = await sql<{ entry: string }[]>`
    select 'SCHEMA - ' || nspname as entry from pg_namespace
    union all select 'EXTENSION - ' || extname from pg_extension`;
  return {
    major: Number(target?.major),
    login: String(target?.login),
    existing: existing.map(({ entry }) => entry),
  };
}

function refuseUnfit(header: BackupHeader, { major, login }: Target, pgRestore: number): void {
  if (header.format !== 2) {
    throw new Error(
      "The backup was made by `npm run backup`, of an embedded database. Use `npm run restore`.",
    );
  }
  if (major < header.postgres) {
    throw new Error(
      `The backup is of PostgreSQL ${header.postgres}, and DATABASE_URL names PostgreSQL ${major}. ` +
        "Restore it into the same or a later version.",
    );
  }
  if (pgRestore < header.pgDump) throw tooOld("pg_restore", pgRestore, header.pgDump);
  if (login !== header.login) {
    throw new Error(
      `The tables of the backup belong to the login ${JSON.stringify(header.login)}, and DATABASE_URL names ` +
        `${JSON.stringify(login)}. Restore it with a login of the same name.`,
    );
  }
}

/** Roles are shared by all databases of a server, so no dump of a database has them. */
async function createRoles(sql: Sql): Promise<void> {
  const missing = await sql<{ name: string }[]>`
    select name from unnest(array['anon', 'authenticated', 'service_role']) name
    where to_regrole(name) is null`;
  for (const { name } of missing) {
    const bypass = name === "service_role" ? "bypassrls" : "";
    await sql.unsafe(`create role ${name} nologin noinherit ${bypass}`).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : error;
      throw new Error(
        `The role ${name} is missing and cannot be created: ${reason}. See docs/deploy.md.`,
      );
    });
  }
}

/** In one transaction: the database has everything, or stays empty. */
async function load(
  dump: string,
  { existing, ...options }: Connection & { existing: readonly string[] },
): Promise<void> {
  if (!existsSync(dump)) throw new Error("The backup has no database.");
  const list = await runTool("pg_restore", ["--list", dump], { signal: options.signal });
  const kept = list.split("\n").filter((line) => {
    // Such as `2; 3079 16389 EXTENSION - pg_trgm` and `3301; 0 0 COMMENT - EXTENSION pg_trgm`.
    const entry = /^\d+; \d+ \d+ ((?:SCHEMA|EXTENSION) - \S+)/.exec(line)?.[1];
    return !existing.includes(entry ?? "") && !/ COMMENT - EXTENSION /.test(line);
  });
  await writeFile(`${dump}.list`, kept.join("\n"));
  const how = ["--single-transaction", "--exit-on-error", "--no-owner"];
  await runTool("pg_restore", [...how, `--use-list=${dump}.list`, dump], options);
  await rm(`${dump}.list`);
}

interface Connection {
  readonly url?: string;
  readonly signal: AbortSignal;
}

/** Runs a program of PostgreSQL, which ends with this process. Returns its output. */
async function runTool(
  tool: Tool,
  args: readonly string[],
  { url, signal }: Connection,
): Promise<string> {
  const env = { ...process.env };
  const target: string[] = [];
  if (url !== undefined) {
    // Arguments are visible to every user of the machine.
    const address = new URL(url);
    if (address.password !== "") env.PGPASSWORD = decodeURIComponent(address.password);
    address.password = "";
    target.push(`--dbname=${address}`);
  }
  const options = { env, signal, maxBuffer: MAX_LIST_BYTES };
  const running = promisify(execFile)(tool, [...target, ...args], options);
  guardProcess(running.child, "TERM", "process");
  try {
    return (await running).stdout;
  } catch (error) {
    signal.throwIfAborted();
    const { stderr } = error as { stderr?: string };
    throw new Error(`${tool} failed: ${stderr?.trim().slice(-2_000)}`, { cause: error });
  }
}

/** @throws Error with the remedy when the program is missing or older than `required` */
async function majorOf(tool: Tool, required: number): Promise<number> {
  const found = await promisify(execFile)(tool, ["--version"]).catch(() => undefined);
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(found?.stdout ?? "")?.[1]);
  if (!(major >= required)) throw tooOld(tool, major, required);
  return major;
}

function tooOld(tool: Tool, major: number, required: number): Error {
  const found = major > 0 ? `is of version ${major}` : "is not on the PATH";
  const version = required > 0 ? ` ${required} or later` : "";
  return new Error(
    `${tool} ${found}. Install the client programs of PostgreSQL${version}, such as ` +
      `postgresql-client${required > 0 ? `-${required}` : ""} of Debian.`,
  );
}
