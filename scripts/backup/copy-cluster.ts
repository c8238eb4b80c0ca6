/**
 * Copies a running cluster of PostgreSQL, by its protocol of low-level base backups: the files are copied
 * while they change, and the write-ahead log of that time makes them consistent when the copy is first
 * started. The copy has exactly the data committed when the backup was stopped.
 */
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import type { ClusterHeader } from "./archive-format.ts";
import type { Archive, Skips } from "./write-archive.ts";

const FOLDER = "postgres";
const CONTROL_FILE = "global/pg_control";
/** Files that PostgreSQL writes again at every start. Their folders must exist. */
const TRANSIENT = new Set(
  ["wal", "dynshmem", "notify", "replslot", "serial", "snapshots", "stat_tmp", "subtrans"].map(
    (name) => `${FOLDER}/pg_${name}`,
  ),
);
const OF_THE_PROCESS = /(^|\/)(postmaster\.(pid|opts)|pgsql_tmp[^/]*|pg_internal\.init[^/]*)$/;
const LOCK_TIMEOUT_MS = 5_000;

type Snapshot = Omit<ClusterHeader, "createdAt">;

/**
 * @param describe is called first, for the head of the archive
 * @param freeze copies the files that must match the tool records of the snapshot. No tool call of any
 *   turn starts or ends during this, so it must be quick.
 * @throws Error when another backup is being taken
 */
export async function copyCluster(
  cluster: { readonly url: string; readonly folder: string },
  archive: Archive,
  describe: (snapshot: Snapshot) => Promise<void>,
  freeze: () => void,
): Promise<void> {
  const options = { max: 1, idle_timeout: 0, max_lifetime: null, onnotice: () => {} };
  // The backup and its replication slot end with this session, however it ends.
  const session = postgres(cluster.url, options);
  const locker = postgres(cluster.url, options);
  try {
    await refuseSecond(session);
    await describe({ format: 1, ...(await describeDatabase(session)) });

    // Keeps the write-ahead log until it has been copied.
    const slot = `backup_${randomBytes(8).toString("hex")}`;
    await session`select pg_create_physical_replication_slot(${slot}, true, true)`;
    const [begun] = await session`
      select pg_walfile_name(pg_backup_start('npm run backup', true)) as segment`;
    await archive.addFolder(cluster.folder, FOLDER, skips);
    await addControlFile(archive, cluster.folder);

    const stopped = await whileNoToolRuns(locker, async () => {
      freeze();
      const [end] = await session`
        select pg_walfile_name(lsn - 1) as segment, labelfile
        from pg_backup_stop(wait_for_archive => false)`;
      return end;
    });
    await archive.addContent(`${FOLDER}/backup_label`, Buffer.from(String(stopped?.labelfile)));
    await addLog(archive, cluster.folder, String(begun?.segment), String(stopped?.segment));
  } finally {
    await locker.end({ timeout: 1 });
    await session.end({ timeout: 1 });
  }
}

const skips: Skips = (name) => {
  if (TRANSIENT.has(name)) return "content";
  return OF_THE_PROCESS.test(name) || name === `${FOLDER}/${CONTROL_FILE}` ? "all" : "nothing";
};

/** @throws Error when another session of the database takes a backup */
export async function refuseSecond(session: Sql): Promise<void> {
  const [alone] = await session`select pg_try_advisory_lock(7306411209) as locked`;
  if (alone?.locked !== true) throw new Error("Another backup of this installation is running.");
}

/** Runs work while no tool call of any turn starts or ends. */
export const whileNoToolRuns = <T>(locker: Sql, work: () => Promise<T>) =>
  locker.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`;
    await tx`lock table public.tool_runs in share row exclusive mode`;
    return work();
  });

export async function describeDatabase(sql: Sql): Promise<Omit<Snapshot, "format">> {
  const [server] = await sql`select current_setting('server_version_num')::int / 10000 as major`;
  const applied = await sql<{ version: string }[]>`
    select version from supabase_migrations.schema_migrations order by version`;
  return { postgres: Number(server?.major), migrations: applied.map(({ version }) => version) };
}

/** PostgreSQL may be writing the file while it is read: two equal reads are a whole one. */
async function addControlFile(archive: Archive, folder: string): Promise<void> {
  const read = () => readFile(join(folder, CONTROL_FILE));
  for (let last = await read(); ; ) {
    const next = await read();
    if (next.equals(last)) return archive.addContent(`${FOLDER}/${CONTROL_FILE}`, next);
    last = next;
  }
}

/** Adds the segments of the write-ahead log, whose names are in their order. */
async function addLog(
  archive: Archive,
  folder: string,
  first: string,
  last: string,
): Promise<void> {
  const names = (await readdir(join(folder, "pg_wal"))).filter(
    (name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last,
  );
  if (!names.includes(first) || !names.includes(last)) {
    throw new Error("PostgreSQL has removed a part of its log that the backup needs.");
  }
  for (const name of names.sort()) {
    await archive.addFile(join(folder, "pg_wal", name), `${FOLDER}/pg_wal/${name}`);
  }
}
