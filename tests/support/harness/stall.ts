/**
 * How long the event loop stands still while something runs in this process, during which a server
 * answers no one. It is measured in processor time of this thread, to which other processes on the
 * machine do not add.
 */
import { setTimeout as delay } from "node:timers/promises";

const RESOLUTION_MS = 5;

/** Watches the event loop of this thread, without keeping the process alive. */
export function watchEventLoop() {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let turns = 0;
  let longest = 0;
  let last = cpuMs();
  const timer = setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    turns += 1;
  }, RESOLUTION_MS).unref();
  return {
    /** Returns how often the loop has come round. */
    turns: () => turns,
    /** Returns the longest turn since the last call, in milliseconds of processor time. */
    takeLongest(): number {
      const taken = longest;
      longest = 0;
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}

async function longestStall(work: () => unknown): Promise<number> {
  const loop = watchEventLoop();
  const nextTurn = async () => {
    const before = loop.turns();
    while (loop.turns() === before) await delay(RESOLUTION_MS);
  };
  await nextTurn();
  loop.takeLongest();
  await work();
  await nextTurn();
  loop.stop();
  return loop.takeLongest();
}

/**
 * The longest stall that one request may cause, on a processor that needs `REFERENCE_MS` for
 * `referenceWork`.
 */
const MAX_STALL_MS = 250;
const REFERENCE_MS = 15;

/** A fixed amount of the kind of work that the corpora ask for: parsing, matching and copying. */
function referenceWork(): void {
  const text = JSON.stringify(Array.from({ length: 40_000 }, (_, n) => ({ id: n, name: `n${n}` })));
  JSON.parse(text);
  text.match(/"name":"n\d+"/g);
}

/** Compilation and a shared core add to a stall and never take from it: one good measurement is proof. */
const ATTEMPTS = 3;

/**
 * Fails when the work stalls the event loop for longer than is accepted. A slow processor accepts
 * more: a fixed piece of work is measured after an attempt that was slow.
 */
export async function expectNoStall(work: () => unknown): Promise<void> {
  const attempts: { readonly stall: number; readonly accepted: number }[] = [];
  while (attempts.length < ATTEMPTS) {
    const stall = await longestStall(work);
    if (stall < MAX_STALL_MS) return;
    const reference = await longestStall(referenceWork);
    const accepted = MAX_STALL_MS * Math.max(1, reference / REFERENCE_MS);
    if (stall < accepted) return;
    attempts.push({ stall, accepted });
  }
  throw new Error(
    `The event loop stood still: ${JSON.stringify(attempts)} (milliseconds of processor time)`,
  );
}
