/** A PostgreSQL of this machine, with its client programs, which npm does not install. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { vi } from "vitest";
import { exitOf } from "../../../scripts/embedded/exit-of.ts";
import { accountOfNewCluster } from "../../../scripts/embedded/run-postgres.ts";
import { freePort } from "../../../scripts/free-port.ts";

/** Returns the folder of its programs, or undefined. */
export function findSystemPostgres(): string | undefined {
  const onPath = (process.env.PATH ?? "").split(":").map((folder) => join(folder, "initdb"));
  const found = [...onPath, ...globSync("/usr/lib/postgresql/*/bin/initdb").sort().reverse()];
  const complete = (folder: string) =>
    ["postgres", "pg_dump", "pg_restore"].every((name) => existsSync(join(folder, name)));
  return found.filter(existsSync).map(dirname).find(complete);
}

/** Starts it on loopback. */
export async function startSystemPostgres(programs: string) {
  const folder = await mkdtemp(join(tmpdir(), "system-postgres-"));
  const account = accountOfNewCluster();
  if (account) await chown(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const port = await freePort();
  const as = { ...account, cwd: folder };
  const login = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"];
  execFileSync(join(programs, "initdb"), ["--no-sync", ...login, data], as);
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories="];
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, ...[...settings, "fsync=off"].flatMap((setting) => ["-c", setting])],
    { ...as, stdio: "ignore" },
  );
  const ended = exitOf(server);
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const sql = postgres(urlOf("postgres"), { max: 1, onnotice: () => {} });
  await vi.waitFor(() => sql`select 1`, { timeout: 30_000, interval: 100 });
  return {
    sql,
    urlOf,
    async stop() {
      await sql.end();
      server.kill("SIGQUIT");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
