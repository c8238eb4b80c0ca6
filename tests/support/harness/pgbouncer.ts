/** A real PgBouncer in front of a PostgreSQL, with its default configuration except for a test's changes. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { accountOfNewCluster } from "../../../scripts/embedded/run-postgres.ts";
import { freePort } from "../../../scripts/free-port.ts";

const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

/** Why tests of poolers are skipped here; undefined where they run. */
export const withoutPgBouncer: string | undefined = (() => {
  try {
    execFileSync("pgbouncer", ["--version"], { env: { ...process.env, PATH } });
    return undefined;
  } catch {
    return "PgBouncer is not installed (apt-get install pgbouncer)";
  }
})();

type Ini = Readonly<Record<string, string | number>>;

/** @param settings are in its section `[pgbouncer]`; its `url` leads to the same database as the given one */
export async function startPgBouncer(databaseUrl: string, settings: Ini = {}) {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "pgbouncer-"));
  const password = decodeURIComponent(target.password);
  const users = { [target.username]: password, admin: password };
  const lines = Object.entries({
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: join(folder, "users"),
    admin_users: "admin",
    ...settings,
  });
  await writeFile(
    join(folder, "pgbouncer.ini"),
    [
      "[databases]",
      `* = host=${target.hostname} port=${target.port}`,
      "[pgbouncer]",
      ...lines.map(([name, value]) => `${name} = ${value}`),
    ].join("\n"),
  );
  const listed = Object.entries(users).map(([name, secret]) => `"${name}" "${secret}"`);
  await writeFile(join(folder, "users"), listed.join("\n"));
  // As root it takes no account but another one.
  const account = accountOfNewCluster();
  for (const path of [folder, join(folder, "users"), join(folder, "pgbouncer.ini")]) {
    await chmod(path, 0o700);
    if (account) await chown(path, account.uid, account.gid);
  }

  let child: ChildProcess;
  const start = async () => {
    child = spawn("pgbouncer", ["--quiet", join(folder, "pgbouncer.ini")], {
      ...account,
      env: { ...process.env, PATH },
      stdio: "ignore",
    });
    while (child.exitCode === null && !(await listens(port))) await delay(20);
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  await start();
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    start,
    /** Ends it as a crash would, with all connections. */
    stop,
    /** Runs a command of its console, such as `pause`. */
    async command(text: string): Promise<Readonly<Record<string, unknown>>[]> {
      const console = new URL(url);
      console.username = "admin";
      console.pathname = "/pgbouncer";
      const client = new pg.Client({ connectionString: console.href });
      client.on("error", () => {});
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
