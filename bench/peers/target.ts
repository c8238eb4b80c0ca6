/** The measured target: a server, or a way to do without one, that answers turns as a stream. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { guardProcess } from "../../scripts/embedded/guard-process.ts";

/** Sends one turn of a conversation. */
export type Turn = (text: string) => Promise<Response>;

export interface Running {
  /** Makes a conversation without a history. */
  converse(): Promise<Turn>;
  /** Ends every process of the server at once, as a crash does. */
  kill(): Promise<void>;
  /** Its first process, which has started all others; absent without a server. */
  readonly pid?: number | undefined;
}

export interface Target {
  readonly name: string;
  /** The prefix of a text delta in its stream. */
  readonly delta: string;
  /** The tools of its agent: none, a tool that does nothing, or a sandboxed shell too. */
  readonly tools: "none" | "no-op" | "shell";
  start(): Promise<Running>;
}

const START_DEADLINE_MS = 120_000;

/**
 * Starts a server program and waits until `path` answers.
 *
 * @returns its process id, and a function that ends its whole process group at once
 */
export async function startProgram(options: {
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  ready: string;
}): Promise<Pick<Running, "kill" | "pid">> {
  const child = spawn(process.execPath, options.args, {
    cwd: options.cwd,
    env: { ...options.env, NODE_ENV: "production" },
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  guardProcess(child, "KILL", "group");
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  const ended = once(child, "exit");
  const kill = async () => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await ended;
  };
  const deadline = performance.now() + START_DEADLINE_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    const answer = await fetch(options.ready).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return { kill, pid: child.pid };
    await delay(50);
  }
  throw new Error(`${options.args.join(" ")} does not answer.\n${errors}`);
}

/** Posts JSON. @throws Error when the answer is not successful */
export async function post(url: string, body: unknown): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}
