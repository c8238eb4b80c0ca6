import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { localOrigin } from "@platform/kit/local-origin";
import { exitOf } from "./embedded/exit-of.ts";
import { guardProcess } from "./embedded/guard-process.ts";
import { projectRoot } from "./project-root.ts";

export type RunningNext = {
  url: string;
  pid: number;
  port: number;
  /** Returns the output of the process so far, at most the last 4 million characters. */
  logs(): string;
  /** Signals only the server process, or all of several, as in a crash. */
  kill(signal: NodeJS.Signals): void;
  /** Stops the server and every process that it started: at once when `hurried` aborts. */
  stop(hurried?: AbortSignal): Promise<void>;
  /** Resolves with a message when the server exits without `stop()`. */
  died: Promise<string>;
};

/**
 * A server keeps almost everything that it allocates until it listens, so collecting garbage before that only
 * costs time.
 */
const HEAP = ["--initial-old-space-size=256", "--min-semi-space-size=16"];

/**
 * Starts one Next server process, or several that share the port, and waits until `GET /api/health` answers.
 *
 * @param options.processes the number of server processes of `start`, which are then replaced when they
 * exit. Default: one, and `died` resolves when it exits.
 * @param options.graceMs how long `stop()` waits for the server to exit by itself. Default: 2 s.
 * @param options.output `collect` for `logs()`, `show` to pass the output through.
 * @throws Error when the port is in use or the server exits before it answers
 */
export async function runNext(options: {
  mode: "dev" | "start";
  /** The address to listen on. Default: loopback. */
  host?: string;
  port: number;
  processes?: number;
  graceMs?: number;
  /** The program of one process of `start`. Default: the production server. */
  program?: readonly string[] | undefined;
  distDir: string;
  env: Readonly<Record<string, string | undefined>>;
  output: "collect" | "show";
}): Promise<RunningNext> {
  const { mode, host = "127.0.0.1", port, processes, graceMs = 2_000 } = options;
  const dev = ["node_modules/next/dist/bin/next", "dev", "--hostname", host, "--port", `${port}`];
  const { program = ["scripts/server-process.ts"] } = options;
  const server = processes === undefined ? program : ["scripts/cluster.ts"];
  // Otherwise another process on this port would answer the health check.
  await assertFree(host, port);
  const child = spawn(
    process.execPath,
    mode === "dev" ? dev : ["--disable-warning=ExperimentalWarning", ...HEAP, ...server],
    {
      cwd: projectRoot,
      // Its own process group, so its helper processes stop with it and Ctrl-C reaches them through us,
      // in order.
      detached: true,
      env: nextEnv(
        {
          ...options.env,
          HOST: host,
          PORT: String(port),
          NEXT_DIST_DIR: options.distDir,
          SERVER_PROCESSES: String(processes ?? 1),
        },
        mode,
      ),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  guardProcess(child, "KILL", "group");
  const collected = collectOutput(child, options.output === "show");

  const ended = exitOf(child);
  let stopping = false;
  const stop = async (hurried?: AbortSignal) => {
    stopping = true;
    // On SIGTERM, `next dev` would leave a reporting process behind for some seconds. It has nothing
    // to finish, so it is killed.
    if (alive(child) && mode === "start") {
      child.kill("SIGTERM");
      const kill = () => signalGroup(child, "SIGKILL");
      hurried?.addEventListener("abort", kill);
      const timer = setTimeout(kill, graceMs);
      await ended;
      clearTimeout(timer);
    }
    signalGroup(child, "SIGKILL");
    await ended;
  };

  const url = localOrigin(host, port);
  if (!(await becomesHealthy(url, child))) {
    signalGroup(child, "SIGKILL");
    const output = options.output === "collect" ? `\n${collected().slice(-4000)}` : "";
    throw new Error(`The server exited (${await ended}) before it answered.${output}`);
  }
  return {
    url,
    pid: child.pid ?? 0,
    port,
    logs: collected,
    kill: (signal) => {
      if (processes === undefined || signal !== "SIGKILL") child.kill(signal);
      else signalGroup(child, signal);
    },
    stop,
    died: new Promise((resolve) => {
      ended.then((how) => {
        if (!stopping) resolve(`The server exited unexpectedly (${how}).`);
      });
    }),
  };
}

function assertFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", ({ code }: NodeJS.ErrnoException) =>
      reject(
        new Error(
          code === "EADDRINUSE"
            ? `Port ${port} is in use. Stop the process that uses it, or set PORT to another port.`
            : `Cannot listen on ${host}, port ${port} (${code}). Set HOST to an address of this machine.`,
        ),
      ),
    );
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

/** Returns the environment of Next: ours without the variables of a test runner or of npm. */
export function nextEnv(
  env: Readonly<Record<string, string | undefined>>,
  mode: "dev" | "start" | "build",
): NodeJS.ProcessEnv {
  const kept = Object.entries({ ...process.env, ...env }).filter(
    ([name, value]) =>
      value !== undefined && !/^(VITEST|npm_|TEST$|PROD$|DEV$|SSR$|MODE$)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    NODE_ENV: mode === "dev" ? "development" : "production",
    NEXT_TELEMETRY_DISABLED: "1",
  };
}

function collectOutput(child: ChildProcess, show: boolean): () => string {
  let text = "";
  for (const [stream, target] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    stream?.setEncoding("utf8");
    stream?.on("data", (piece: string) => {
      // Bounds the memory of a long-running server; only the end of the output matters.
      text = (text + piece).slice(-4_000_000);
      if (show) target.write(piece);
    });
  }
  return () => text;
}

async function becomesHealthy(url: string, child: ChildProcess): Promise<boolean> {
  while (alive(child)) {
    try {
      const response = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(60_000) });
      await response.arrayBuffer();
      if (response.ok) return true;
    } catch {}
    await delay(40);
  }
  return false;
}

function alive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {}
}
