import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { localOrigin } from "../lib/platform/local-origin.ts";
import { guardProcess } from "./embedded/guard-process.ts";
import { projectRoot } from "./start-parts.ts";

export type RunningNext = {
  url: string;
  pid: number;
  port: number;
  /** Everything the process wrote so far. */
  logs(): string;
  /** Signals the server process alone, as a crash would. */
  kill(signal: NodeJS.Signals): void;
  /** Ends the server and whatever it started. */
  stop(): Promise<void>;
  /** Resolves with a reason when the server ends without `stop()`. */
  died: Promise<string>;
};

/**
 * Starts one Next server process and waits until `GET /api/health` answers.
 *
 * @param options.output `collect` for `logs()`, `show` to pass the output through.
 * @throws Error when the port is taken or the server ends before it answers.
 */
export async function runNext(options: {
  mode: "dev" | "start";
  /** The address to listen on. Default: loopback. */
  host?: string;
  port: number;
  distDir: string;
  env: Readonly<Record<string, string | undefined>>;
  output: "collect" | "show";
}): Promise<RunningNext> {
  const { mode, host = "127.0.0.1", port } = options;
  // Otherwise whoever holds the port would answer in the server's place.
  await assertFree(host, port);
  const child = spawn(
    process.execPath,
    [
      join(projectRoot, "node_modules/next/dist/bin/next"),
      ...[mode, "--hostname", host, "--port", String(port)],
    ],
    {
      cwd: projectRoot,
      // A group of its own, so that the server's helpers end with it, and so that Ctrl-C reaches
      // them through us, in order.
      detached: true,
      env: nextEnv(
        { ...options.env, HOST: host, PORT: String(port), NEXT_DIST_DIR: options.distDir },
        mode,
      ),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  guardProcess(child, "KILL", "group");
  const collected = collectOutput(child, options.output === "show");

  const ended = new Promise<string>((done) => {
    child.once("error", (error) => done(error.message));
    child.once("exit", (code, signal) => done(String(code ?? signal)));
  });
  let stopping = false;
  const stop = async () => {
    stopping = true;
    // Asked politely, `next dev` leaves a reporting process behind for some seconds; it has nothing
    // to finish that would be lost.
    if (alive(child) && mode === "start") {
      child.kill("SIGTERM");
      // An open stream would hold a graceful end for as long as its reader likes.
      const patience = setTimeout(() => signalGroup(child, "SIGKILL"), 2_000);
      await ended;
      clearTimeout(patience);
    }
    signalGroup(child, "SIGKILL");
    await ended;
  };

  const url = localOrigin(host, port);
  if (!(await becomesHealthy(url, child))) {
    signalGroup(child, "SIGKILL");
    const output = options.output === "collect" ? `\n${collected().slice(-4000)}` : "";
    throw new Error(`The server ended (${await ended}) before it answered.${output}`);
  }
  return {
    url,
    pid: child.pid ?? 0,
    port,
    logs: collected,
    kill: (signal) => void child.kill(signal),
    stop,
    died: new Promise((resolve) => {
      ended.then((how) => {
        if (!stopping) resolve(`The server ended (${how}).`);
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
            ? `Port ${port} is in use. Stop what uses it, or set PORT to another.`
            : `Nothing can listen on ${host}, port ${port} (${code}). Set HOST to an address of this machine.`,
        ),
      ),
    );
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

/** A free loopback port, free at the time of asking. */
export function freePort(): Promise<number> {
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

/** What Next gets: our environment without what a test runner or an npm script put there. */
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
      // A long-running server must not fill our memory: the last part is what anyone looks at.
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
