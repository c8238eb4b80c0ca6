/**
 * Program: runs `SERVER_PROCESSES` server processes that share one port, and replaces one that exits.
 * SIGTERM goes to all of them, and this program exits after them.
 */
import cluster, { type Worker } from "node:cluster";
import { join } from "node:path";

/** A process that lived for less is replaced after a pause, which doubles each time. */
const HEALTHY_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

const startedAt = new Map<Worker, number>();
let hasListened = false;
let earlyExits = 0;
let stopping = false;

cluster.setupPrimary({ exec: join(import.meta.dirname, "server-process.ts") });
// The first process checks the installation. The others, and their replacements, do not: a later fault
// must not keep a server from coming back.
cluster.on("listening", () => {
  if (hasListened) return;
  hasListened = true;
  for (let n = Number(process.env.SERVER_PROCESSES); n > 1; n--) start();
});
cluster.on("exit", (worker, code, signal) => {
  const isEarly = Date.now() - (startedAt.get(worker) ?? 0) < HEALTHY_MS;
  startedAt.delete(worker);
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
start();

function start(): void {
  if (stopping) return;
  const worker = cluster.fork(hasListened ? { CHECK_START: "false" } : {});
  startedAt.set(worker, Date.now());
  closeUntaken(worker);
}

/**
 * Closes the connections that a process was given and has not taken when it exits. Node would keep them open,
 * and their clients would wait forever instead of asking again. Node has no public event for this, so its internal
 * messages are observed: `newconn` with a number, which the process acknowledges.
 */
function closeUntaken({ process: child }: Worker): void {
  const given = new Map<unknown, { close(): void }>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (...args: unknown[]) => {
    const [message, connection] = args as [{ act?: string; seq?: number }, { close(): void }];
    if (message.act === "newconn") given.set(message.seq, connection);
    return send(...args);
  };
  child.on("internalMessage", ({ ack }: { ack?: number }) => given.delete(ack));
  child.on("exit", () => {
    for (const connection of given.values()) connection.close();
  });
}

function stop(): void {
  stopping = true;
  if (startedAt.size === 0) process.exit(0);
  for (const worker of startedAt.keys()) worker.process.kill("SIGTERM");
}
