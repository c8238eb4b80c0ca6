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
import { createServer } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { type Account, findPostgres, type PostgresPrograms } from "./find-postgres.ts";
import { guardProcess } from "./guard-process.ts";

export type RunningPostgres = {
  url: string;
  pid: number;
  /** Resolves with a reason when the server ends without `stop()`. */
  died: Promise<string>;
  stop(): Promise<void>;
};

const settings = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=200",
  "timezone=UTC",
  "log_timezone=UTC",
  "jit=off",
  // An error quotes what people wrote, and reaches the client anyway: none of it is logged.
  "log_min_messages=log",
  "log_min_error_statement=panic",
  "log_parameter_max_length_on_error=0",
];

/**
 * Runs the cluster in `<dataDir>/postgres` on a free loopback port, made on first use. Every commit
 * is on disk before it is answered. A server that an earlier, killed run left behind is ended first.
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
    await initialise(programs, cluster, account, options.password);
  }
  await endLeftover(cluster, options.password);

  for (let attempt = 1; ; attempt++) {
    const started = await start(programs, cluster, account, options);
    if (started !== undefined) return started;
    // The port was taken in between, or processes of a killed server are still letting go of the
    // cluster's shared memory.
    if (attempt === 20) {
      programs.dispose();
      throw new Error(`PostgreSQL does not start. Its log: ${options.logFile}`);
    }
    await delay(250);
  }
}

/** PostgreSQL refuses to run as root. An existing cluster keeps its owner. */
function chooseAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(cluster)) {
    const { uid, gid } = statSync(cluster);
    return { uid, gid };
  }
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) =>
        Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {}
  }
  throw new Error("PostgreSQL cannot run as root, and there is no user postgres or nobody here.");
}

/**
 * Starts a program on the cluster. Under another account the directory is handed over open, because
 * that account may not be allowed to walk the path to it.
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

async function initialise(
  programs: PostgresPrograms,
  cluster: string,
  account: Account | undefined,
  password: string,
): Promise<void> {
  // Made beside and renamed into place: a cluster that was cut half-way never gets the name.
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
    const code = await exitOf(spawnOn(draft, account, programs.initdb, args, output));
    if (code !== 0) throw new Error(`initdb failed:\n${readFileSync(log, "utf8")}`);
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
  // SIGINT is its fast shutdown: open transactions are rolled back, the rest is checkpointed.
  guardProcess(child, "INT", "process");

  const ended = exitOf(child);
  const url = `postgresql://postgres:${options.password}@127.0.0.1:${port}/postgres`;
  if (!(await becomesReady(url, child)) || child.pid === undefined) return undefined;

  let stopping = false;
  return {
    url,
    pid: child.pid,
    died: new Promise((resolve) => {
      ended.then((code) => {
        if (!stopping) resolve(`PostgreSQL ended (${code}). Its log: ${options.logFile}`);
      });
    }),
    async stop() {
      stopping = true;
      child.kill("SIGINT");
      const patience = setTimeout(() => child.kill("SIGQUIT"), 10_000);
      await ended;
      clearTimeout(patience);
      programs.dispose();
    },
  };
}

/** Ends the server of an earlier run whose supervisor was killed, and clears its stale lock file. */
async function endLeftover(cluster: string, password: string): Promise<void> {
  const lockFile = join(cluster, "postmaster.pid");
  if (!existsSync(lockFile)) return;
  const lines = readFileSync(lockFile, "utf8").split("\n");
  const pid = Number(lines[0]);
  const port = Number(lines[3]);

  // The number may belong to a stranger by now: only a server that takes this cluster's password,
  // or a process that calls itself postgres, is ours to end.
  const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
  const ours = (port > 0 && (await accepts(url))) || looksLikePostgres(pid);
  if (ours) {
    signal(pid, "SIGINT");
    if (!(await untilGone(pid, 10_000))) {
      signal(pid, "SIGQUIT");
      await untilGone(pid, 10_000);
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

async function untilGone(pid: number, patience: number): Promise<boolean> {
  for (const end = Date.now() + patience; Date.now() < end; await delay(25)) {
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

function exitOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signalName) => resolve(code ?? signalName ?? "unknown"));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address === null || typeof address === "string") reject(new Error("no port"));
        else resolve(address.port);
      });
    });
  });
}
