/** The rules by which accounts share slots, proved by order: nothing here waits for a clock. */

import { FairQueue, type FairQueueLimits } from "@platform/kit/fair-queue";
import { describe, expect, test } from "vitest";

const queueOf = (limits: Partial<FairQueueLimits>) =>
  new FairQueue({
    name: "requests",
    slots: 4,
    waitersPerAccount: 100,
    maxWaitMs: 3_600_000,
    ...limits,
  });

/** Enters, and records in `log` when it has its slot; `end` releases the slot. */
function enter(queue: FairQueue, accountId: string, log: string[], signal?: AbortSignal) {
  const gate = Promise.withResolvers<void>();
  const done = queue.run(accountId, signal, async () => {
    log.push(accountId);
    await gate.promise;
  });
  return { done, end: () => gate.resolve() };
}

/** After everything that is ready to run has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

describe("shares", () => {
  test.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [16, 8],
    [64, 32],
  ])("of %i slots, one account alone gets %i", async (slots, share) => {
    const queue = queueOf({ slots });
    const log: string[] = [];
    for (let n = 0; n < slots; n++) void enter(queue, "one", log);
    await settled();
    expect(log).toHaveLength(share);
    expect(queue.isOpen("one")).toBe(false);
  });

  test("others start at once while earlier accounts hold every slot they can", async () => {
    const queue = queueOf({ slots: 16 });
    const log: string[] = [];
    for (const account of ["a", "b", "c", "d", "e"]) {
      for (let n = 0; n < 16; n++) void enter(queue, account, log);
      await settled();
    }
    const held = Object.groupBy(log, (account) => account);
    const counts = Object.values(held).map((entries) => entries?.length);
    expect(counts).toEqual([8, 4, 2, 1, 1]);
  });

  test("a slot that becomes free is not for an account that holds as many as are free", async () => {
    const queue = queueOf({ slots: 2 });
    const log: string[] = [];
    const [first] = [enter(queue, "a", log), enter(queue, "b", log)];
    for (const account of ["a", "a", "c", "a", "b"]) void enter(queue, account, log);
    await settled();
    expect(log).toEqual(["a", "b"]);
    first.end();
    await first.done;
    await settled();
    // One slot is free, and "b" holds the other: accounts without a slot may take it in turn.
    expect(log).toEqual(["a", "b", "a"]);
  });

  test("accounts that wait take turns, and each starts its callers in their order", async () => {
    const queue = queueOf({ slots: 1 });
    const log: string[] = [];
    const busy = enter(queue, "z", log);
    const calls = ["a1", "a2", "a3", "b1", "c1", "b2"].map((call) =>
      queue.run(call.charAt(0), undefined, async () => log.push(call)),
    );
    busy.end();
    await Promise.all(calls);
    expect(log).toEqual(["z", "a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  test("a limit for each account holds below its share", async () => {
    const queue = queueOf({ slots: 100, slotsPerAccount: 3 });
    const log: string[] = [];
    for (let n = 0; n < 10; n++) void enter(queue, "a", log);
    await settled();
    expect(log).toEqual(["a", "a", "a"]);
  });

  test("work that fails gives its slot back, and a slot is given back once", async () => {
    const queue = queueOf({ slots: 1 });
    const failing = queue.run("a", undefined, () => Promise.reject(new Error("broken")));
    await expect(failing).rejects.toThrow("broken");
    const release = await queue.acquire("b");
    release();
    release();
    const log: string[] = [];
    void enter(queue, "c", log);
    void enter(queue, "d", log);
    await settled();
    expect(log).toEqual(["c"]);
  });
});

describe("bounds", () => {
  test("beyond the waiting callers of an account, the next is refused; other accounts wait on", async () => {
    const queue = queueOf({ slots: 1, waitersPerAccount: 2 });
    const log: string[] = [];
    const busy = enter(queue, "a", log);
    const waiting = [enter(queue, "a", log), enter(queue, "a", log), enter(queue, "b", log)];
    await expect(queue.acquire("a")).rejects.toMatchObject({
      name: "QueueRefusal",
      reason: "full",
    });
    for (const entry of [busy, ...waiting]) entry.end();
    await Promise.all(waiting.map(({ done }) => done));
    expect(log).toEqual(["a", "a", "b", "a"]);
  });

  test("a wait ends at its deadline, and leaves the line", async () => {
    const queue = queueOf({ slots: 1, maxWaitMs: 1 });
    const log: string[] = [];
    const busy = enter(queue, "a", log);
    const late = queue.acquire("a");
    await expect(late).rejects.toMatchObject({ name: "QueueRefusal", reason: "timeout" });
    busy.end();
    await busy.done;
    expect(queue.isOpen("a")).toBe(true);
  });

  test("who leaves is not called, and nobody leaves a timer behind", async () => {
    const before = timers();
    const queue = queueOf({ slots: 1 });
    const log: string[] = [];
    const busy = enter(queue, "a", log);
    const leaving = new AbortController();
    const gone = enter(queue, "b", log, leaving.signal);
    const staying = enter(queue, "b", log);
    leaving.abort(new Error("left"));
    await expect(gone.done).rejects.toThrow("left");
    busy.end();
    staying.end();
    await Promise.all([busy.done, staying.done]);
    expect(log).toEqual(["a", "b"]);
    expect(timers()).toBe(before);
    await expect(queue.acquire("a", leaving.signal)).rejects.toThrow("left");
  });
});
