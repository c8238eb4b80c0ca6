/**
 * Program: runs `SERVER_PROCESSES` server processes that share one port, and replaces one that exits or does not
 * answer. SIGTERM goes to all of them, and this program exits after them.
 */
import cluster, { type Worker } from "node:cluster";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openFileLimit } from "@platform/kit/open-file-limit";

/** A process that lived for less is replaced after a pause, which doubles each time. */
const HEALTHY_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A process that has not answered after this many seconds is killed. */
const MAX_SILENCE = 10;

/** Messages to a process that it has not acknowledged yet, in the order of `askedAt`. */
type Unanswered = Map<unknown, { readonly askedAt: number; readonly close?: () => void }>;
const PING = "ping";

const startedAt = new Map<Worker, number>();
/** The processes that listen. */
const watched = new Set<Worker>();
const unanswered = new WeakMap<Worker, Unanswered>();
/** Seconds in which this program ran: a process is not silent while the machine sleeps. */
let seconds = 0;
let hasListened = false;
let earlyExits = 0;
let stopping = false;

cluster.setupPrimary({ exec: join(import.meta.dirname, "server-process.ts") });
// The first process checks the installation. The others, and their replacements, do not: a later fault
// must not keep a server from coming back.
cluster.on("listening", (worker) => {
  watched.add(worker);
  if (hasListened) return;
  hasListened = true;
  for (let n = Number(process.env.SERVER_PROCESSES); n > 1; n--) start();
});
cluster.on("exit", (worker, code, signal) => {
  const isEarly = Date.now() - (startedAt.get(worker) ?? 0) < HEALTHY_MS;
  startedAt.delete(worker);
  watched.delete(worker);
  if (stopping) {
    if (startedAt.size === 0) process.exit(0);
    return;
  }
  // Settings that no process can start with do not get better.
  if (!hasListened) process.exit(code || 1);
  earlyExits = isEarly ? earlyExits + 1 : 0;
  const pauseMs = isEarly ? Math.min(FIRST_PAUSE_MS * 2 ** (earlyExits - 1), MAX_PAUSE_MS) : 0;
  console.error(`A server process exited (${signal ?? code}). It is replaced in ${pauseMs} ms.`);
  setTimeout(start, pauseMs);
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
setInterval(() => {
  seconds++;
  for (const worker of watched) watch(worker);
}, 1_000).unref();
start();

function start(): void {
  if (stopping) return;
  const worker = cluster.fork(hasListened ? { CHECK_START: "false" } : {});
  startedAt.set(worker, Date.now());
  observe(worker);
}

/**
 * Keeps the messages that a process has not acknowledged: its connections, and pings. Closes these
 * connections when it exits. Node would keep them open, and their clients would wait forever
 * instead of retrying. Node has no public event for this, so its internal messages are observed:
 * `newconn` with a number, which the process acknowledges.
 */
function observe(worker: Worker): void {
  const { process: child } = worker;
  const given: Unanswered = new Map();
  unanswered.set(worker, given);
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (...args: unknown[]) => {
    const [message, connection] = args as [{ act?: string; seq?: number }, { close(): void }];
    if (message.act === "newconn") {
      given.set(message.seq, { askedAt: seconds, close: () => connection.close() });
    }
    return send(...args);
  };
  child.on("internalMessage", ({ ack }: { ack?: number }) => given.delete(ack));
  child.on("message", () => given.delete(PING));
  child.on("exit", () => {
    for (const { close } of given.values()) close?.();
  });
}

/**
 * Kills a process whose event loop stands still, or that does not take a connection: `node:cluster` gives it no
 * further one, and without another process no one answers.
 */
function watch(worker: Worker): void {
  const given = unanswered.get(worker) ?? new Map();
  const [[oldest, { askedAt }] = [PING, { askedAt: seconds }]] = given;
  if (seconds - askedAt < MAX_SILENCE) {
    if (given.has(PING) || !worker.isConnected()) return;
    given.set(PING, { askedAt: seconds });
    worker.send(PING, () => {});
    return;
  }
  const { pid = 0 } = worker.process;
  const what = oldest === PING ? "does not answer" : "does not take a connection that it was given";
  const files = `It has ${openFiles(pid)} open files of at most ${openFileLimit(pid)}.`;
  console.error(`Server process ${pid} ${what} for ${MAX_SILENCE} s, and is killed. ${files}`);
  watched.delete(worker);
  worker.process.kill("SIGKILL");
}

/** Returns the number of files and connections that a process has open, if the system reports it. */
function openFiles(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}

function stop(): void {
  stopping = true;
  if (startedAt.size === 0) process.exit(0);
  for (const worker of startedAt.keys()) worker.process.kill("SIGTERM");
}
