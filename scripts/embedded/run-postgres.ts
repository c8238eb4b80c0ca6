import { type ChildProcess, execFileSync, type StdioOptions, spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { freePort } from "../free-port.ts";
import { exitOf } from "./exit-of.ts";
import { type Account, findPostgres, type PostgresPrograms } from "./find-postgres.ts";
import { guardProcess } from "./guard-process.ts";
import { postgresUrl } from "./postgres-url.ts";

export type RunningPostgres = {
  url: string;
  pid: number;
  /** Resolves with a message when the server exits without `stop()`. */
  died: Promise<string>;
  stop(): Promise<void>;
};

const MAX_START_ATTEMPTS = 20;
const STOP_TIMEOUT_MS = 10_000;

const settings = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=200",
  "timezone=UTC",
  "log_timezone=UTC",
  "jit=off",
  // Errors quote users' data and reach the client anyway, so they are not logged.
  "log_min_messages=log",
  "log_min_error_statement=panic",
  "log_parameter_max_length_on_error=0",
];

/**
 * Runs the cluster in `<dataDir>/postgres` on a free loopback port and creates it on first use. Every
 * commit is on disk before it is acknowledged. Stops a server that an earlier, killed process left
 * running.
 */
export async function runPostgres(options: {
  dataDir: string;
  password: string;
  logFile: string;
}): Promise<RunningPostgres> {
  const cluster = join(options.dataDir, "postgres");
  const account = chooseAccount(cluster);
  const programs = await findPostgres(account);

  if (!existsSync(cluster)) {
    await initialize(programs, cluster, account, options.password);
  }
  await stopLeftover(cluster, options.password);

  for (let attempt = 1; ; attempt++) {
    const started = await start(programs, cluster, account, options);
    if (started !== undefined) return started;
    // Another process has taken the port, or processes of a killed server have not yet released the
    // cluster's shared memory.
    if (attempt === MAX_START_ATTEMPTS) {
      programs.dispose();
      throw new Error(`PostgreSQL could not be started. See ${options.logFile}`);
    }
    await delay(250);
  }
}

/** Returns the owner of an existing cluster, when this process is root. */
function chooseAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0 || !existsSync(cluster)) return accountOfNewCluster();
  const { uid, gid } = statSync(cluster);
  return { uid, gid };
}

/** Returns another account when this process is root, as which PostgreSQL refuses to run. */
export function accountOfNewCluster(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) =>
        Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {}
  }
  throw new Error(
    "PostgreSQL cannot run as root, and this machine has no user named postgres or nobody.",
  );
}

/**
 * Starts a program on the cluster. Another account inherits the open directory, because it may not
 * have permission to traverse the path.
 */
function spawnOn(
  cluster: string,
  account: Account | undefined,
  program: string,
  args: string[],
  output: number,
): ChildProcess {
  const stdio: StdioOptions = ["ignore", output, output];
  const env = { NODE_ENV: process.env.NODE_ENV, PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
  if (account === undefined || platform() !== "linux") {
    return spawn(program, ["-D", cluster, ...args], { ...account, env, stdio, detached: true });
  }
  const directory = openSync(cluster, "r");
  try {
    return spawn(program, ["-D", "/proc/self/fd/3", ...args], {
      ...account,
      env,
      cwd: "/",
      stdio: [...stdio, directory],
      detached: true,
    });
  } finally {
    closeSync(directory);
  }
}

async function initialize(
  programs: PostgresPrograms,
  cluster: string,
  account: Account | undefined,
  password: string,
): Promise<void> {
  // Created under another name and then renamed, so a partial cluster never has the final name.
  const draft = `${cluster}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const passwordFile = join(tmpdir(), `postgres-password-${process.pid}-${Date.now()}`);
  const log = `${cluster}-init.log`;
  const output = openSync(log, "w", 0o600);
  try {
    writeFileSync(passwordFile, password, { mode: 0o600, flag: "wx" });
    if (account !== undefined) {
      chownSync(draft, account.uid, account.gid);
      chownSync(passwordFile, account.uid, account.gid);
    }
    const args = [
      "--username=postgres",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
    ];
    const how = await exitOf(spawnOn(draft, account, programs.initdb, args, output));
    if (how !== "0") throw new Error(`initdb failed (${how}):\n${readFileSync(log, "utf8")}`);
  } finally {
    closeSync(output);
    rmSync(passwordFile, { force: true });
  }
  rmSync(log, { force: true });
  renameSync(draft, cluster);
}

async function start(
  programs: PostgresPrograms,
  cluster: string,
  account: Account | undefined,
  options: { password: string; logFile: string },
): Promise<RunningPostgres | undefined> {
  const port = await freePort();
  const output = openSync(options.logFile, "a", 0o600);
  const flags = ["-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const child = spawnOn(cluster, account, programs.postgres, flags, output);
  closeSync(output);
  // SIGINT requests a fast shutdown, which rolls back open transactions and writes a checkpoint.
  guardProcess(child, "INT", "process");

  const ended = exitOf(child);
  const url = postgresUrl(options.password, port);
  if (!(await becomesReady(url, child)) || child.pid === undefined) return undefined;

  let stopping = false;
  return {
    url,
    pid: child.pid,
    died: new Promise((resolve) => {
      ended.then((code) => {
        if (!stopping) resolve(`PostgreSQL exited unexpectedly (${code}). See ${options.logFile}`);
      });
    }),
    async stop() {
      stopping = true;
      child.kill("SIGINT");
      const timer = setTimeout(() => child.kill("SIGQUIT"), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
      programs.dispose();
    },
  };
}

/** Stops the server of an earlier process that was killed, and removes its stale lock file. */
async function stopLeftover(cluster: string, password: string): Promise<void> {
  const lockFile = join(cluster, "postmaster.pid");
  if (!existsSync(lockFile)) return;
  const lines = readFileSync(lockFile, "utf8").split("\n");
  const pid = Number(lines[0]);
  const port = Number(lines[3]);

  // Another process may have this pid by now: only a server that accepts this cluster's password, or
  // a process named postgres, may be stopped.
  const isPostgres =
    (port > 0 && (await accepts(postgresUrl(password, port)))) || looksLikePostgres(pid);
  if (isPostgres) {
    signal(pid, "SIGINT");
    if (!(await untilGone(pid))) {
      signal(pid, "SIGQUIT");
      await untilGone(pid);
    }
  }
  rmSync(lockFile, { force: true });
}

function looksLikePostgres(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  try {
    const command = existsSync("/proc/self/cmdline")
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
      : execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
    return /\bpostgres\b.* -D /.test(command);
  } catch {
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {}
}

async function untilGone(pid: number): Promise<boolean> {
  for (const end = Date.now() + STOP_TIMEOUT_MS; Date.now() < end; await delay(25)) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
  }
  return false;
}

async function becomesReady(url: string, child: ChildProcess): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    if (await accepts(url)) return true;
    await delay(20);
  }
  return false;
}

async function accepts(url: string): Promise<boolean> {
  const client = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    await client`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await client.end({ timeout: 1 });
  }
}
