/** The guarantees of `TurnLog` and of the readings of `Engine`, on both engines. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getWorld, setWorld } from "workflow/runtime";
import type { Engine, TurnAddress, TurnLog } from "../../lib/engine/port.ts";
import {
  inStep,
  type Processes,
  startLocal,
  startPostgres,
  type Turn,
} from "../support/harness/engines.ts";

describe.each([
  ["PostgreSQL", startPostgres],
  ["a World of the Workflow SDK", startLocal],
])("%s", (_, start) => {
  let processes: Processes;
  let engine: Engine;
  let other: Engine;
  beforeAll(async () => {
    processes = await start();
    ({ engine, other } = processes);
  });
  afterAll(async () => {
    setWorld(undefined);
    await processes.stop();
  });

  const opened: TurnLog[] = [];
  async function open({ turnId, runId }: Turn, fresh = true, by = engine): Promise<TurnLog> {
    const log = await by.openLog(turnId, runId, fresh);
    opened.push(log);
    return log;
  }

  /** Tests it in a step of a new run. */
  const guarantee = (title: string, work: (turn: Turn) => Promise<void>): void =>
    test(title, () =>
      inStep(async (turn) => {
        await work(turn);
        for (const log of opened.splice(0)) log.release();
      }),
    );

  /** Reads to the end, and checks that each batch starts where the one before it ended. */
  async function readAll(turn: TurnAddress, from = 0, by = engine): Promise<string[]> {
    const reading = by.read(turn, from, AbortSignal.timeout(60_000));
    const chunks: string[] = [];
    for (;;) {
      const { value, done } = await reading.next();
      if (done) {
        expect(value).toBe("ended");
        return chunks;
      }
      expect(value.firstIndex).toBe(from + chunks.length);
      expect(value.chunks).not.toEqual([]);
      chunks.push(...value.chunks);
    }
  }

  guarantee("a reader sees a chunk only after it is committed", async (turn) => {
    const hold = await processes.hold();
    const log = await open(turn);
    log.append(["one"]);
    await hold.reached();
    const seen: unknown[] = [];
    const readings = [engine, other].map(async (by) => {
      const reading = by.read(turn, 0, AbortSignal.timeout(60_000));
      seen.push((await reading.next()).value);
      await reading.return("moved");
    });
    expect(await engine.tailIndex(turn)).toBe(-1);
    expect(await other.tailIndex(turn)).toBe(-1);
    expect(log.committed()).toEqual([]);
    expect(seen).toEqual([]);
    await hold.release();
    await Promise.all(readings);
    expect(seen).toEqual(Array(2).fill({ firstIndex: 0, chunks: ["one"] }));
    await log.flushed();
    expect(log.committed()).toEqual(["one"]);
    expect(await other.tailIndex(turn)).toBe(0);
    await log.close([]);
  });

  guarantee("chunks keep the order in which they were appended", async (turn) => {
    const log = await open(turn);
    const live = [readAll(turn), readAll(turn, 0, other)];
    const expected = Array.from({ length: 500 }, (_, n) => JSON.stringify({ n }));
    for (const [n, chunk] of expected.entries()) {
      log.append([chunk]);
      if (n % 50 === 0) await log.flushed();
    }
    log.append([]);
    await log.close([]);
    expect(await Promise.all(live)).toEqual([expected, expected]);
    expect(log.committed()).toEqual(expected);
  });

  guarantee(
    "a reading starts at any index, also within a write, and waits for one to come",
    async (turn) => {
      const log = await open(turn);
      const writes = [["0", "1", "2"], ["3"], ["4", "5", "6", "7"]];
      for (const write of writes) {
        log.append(write);
        await log.flushed();
      }
      const indexes = Array.from({ length: 11 }, (_, index) => index);
      const readAt = () =>
        Promise.all(
          indexes.flatMap((from) => [engine, other].map((by) => readAll(turn, from, by))),
        );
      const live = readAt();
      expect(await engine.tailIndex(turn)).toBe(7);
      log.append(["8"]);
      await log.close(["9"]);
      const whole = indexes.slice(0, 10).map(String);
      const rests = indexes.flatMap((from) => [whole.slice(from), whole.slice(from)]);
      expect(await live).toEqual(rests);
      expect(await readAt()).toEqual(rests);
      expect(await other.tailIndex(turn)).toBe(9);
    },
  );

  guarantee("a turn is read before its run is known", async (turn) => {
    const early = { turnId: turn.turnId, runId: null };
    expect(await engine.tailIndex(early)).toBe(-1);
    const whole = readAll(early);
    const log = await open(turn);
    await log.close(["finish"]);
    expect(await whole).toEqual(["finish"]);
  });

  guarantee(
    "`flushed` throws and `failed` aborts when another process has taken over",
    async (turn) => {
      const log = await open(turn);
      log.append(["one"]);
      await log.flushed();
      await processes.takeOver(turn.runId);
      const next = await open(turn, false, other);
      next.append(["two"]);
      await next.flushed();
      // A World may have shown the other's write by now.
      if (!log.failed.aborted) log.append(["lost"]);
      await expect.poll(() => log.failed.aborted).toBe(true);
      await expect(log.flushed()).rejects.toThrow("another writer");
      await next.close(["finish"]);
      expect(await readAll(turn, 0, other)).toEqual(["one", "two", "finish"]);
    },
  );

  guarantee("`flushed` throws when the step is repeated in this process", async (turn) => {
    const log = await open(turn);
    log.append(["one"]);
    await log.flushed();
    const repeated = await open(turn, false);
    expect(repeated.committed()).toEqual(["one"]);
    repeated.append(["two"]);
    await repeated.flushed();
    if (!log.failed.aborted) log.append(["lost"]);
    await expect(log.flushed()).rejects.toThrow("another writer");
    await repeated.close(["finish"]);
    expect(await readAll(turn)).toEqual(["one", "two", "finish"]);
  });

  guarantee("a stream ends once, with one write", async (turn) => {
    const log = await open(turn);
    log.append(["one"]);
    await Promise.all([log.close(["finish"]), log.close(["again"])]);
    await log.close(["again"]);
    expect(() => log.append(["late"])).toThrow();
    const repeated = await open(turn, false);
    expect(() => repeated.append(["late"])).toThrow();
    await repeated.close(["again"]);
    expect(log.committed()).toEqual(["one", "finish"]);
    expect(await readAll(turn)).toEqual(["one", "finish"]);
    expect(await readAll(turn, 0, other)).toEqual(["one", "finish"]);
  });

  guarantee("a reader sees the last chunks together with the end", async (turn) => {
    const log = await open(turn);
    const hold = await processes.hold();
    const closing = log.close(["one", "finish"]);
    await hold.reached();
    expect(await other.tailIndex(turn)).toBe(-1);
    await hold.release();
    await closing;
    const reading = engine.read(turn, 0, AbortSignal.timeout(60_000));
    expect((await reading.next()).value).toEqual({ firstIndex: 0, chunks: ["one", "finish"] });
    expect(await reading.next()).toEqual({ done: true, value: "ended" });
  });

  guarantee(
    "a released log drops chunks that are in no write yet, and can be written again",
    async (turn) => {
      const log = await open(turn);
      const hold = await processes.hold();
      log.append(["start"]);
      await hold.reached();
      log.append(["of a step that has ended"]);
      log.release();
      log.append(["start-step"]);
      await hold.release();
      await log.flushed();
      expect(log.committed()).toEqual(["start", "start-step"]);
      log.release();
      await log.close(["finish"]);
      expect(await readAll(turn)).toEqual(["start", "start-step", "finish"]);
    },
  );

  guarantee(
    "`failed` aborts when a write fails, and the next attempt reads the log again",
    async (turn) => {
      const log = await open(turn);
      log.append(["one"]);
      await log.flushed();
      const hold = await processes.hold();
      const failed = new Promise((resolve) => log.failed.addEventListener("abort", resolve));
      log.append(["lost"]);
      await hold.reached();
      expect(log.failed.aborted).toBe(false);
      await hold.fail();
      await failed;
      expect(log.failed.reason).toBeInstanceOf(Error);
      await expect(log.flushed()).rejects.toBe(log.failed.reason);
      expect(() => log.append(["lost, too"])).toThrow(log.failed.reason);
      await expect(log.close(["lost, too"])).rejects.toThrow();
      const repeated = await open(turn, false);
      expect(repeated.committed()).toEqual(["one"]);
      await repeated.close(["two"]);
      expect(await readAll(turn)).toEqual(["one", "two"]);
    },
  );

  guarantee("a reading ends with `moved` after an abort", async (turn) => {
    const log = await open(turn);
    log.append(["one"]);
    await log.flushed();
    for (const by of [engine, other]) {
      const abort = new AbortController();
      const reading = by.read(turn, 0, abort.signal);
      expect((await reading.next()).value).toEqual({ firstIndex: 0, chunks: ["one"] });
      const next = reading.next();
      abort.abort();
      expect(await next).toEqual({ done: true, value: "moved" });
      const late = by.read(turn, 0, abort.signal);
      expect(await late.next()).toEqual({ done: true, value: "moved" });
    }
  });

  guarantee("a log that is opened again has the committed chunks, in any process", async (turn) => {
    const log = await open(turn);
    log.append(["0", "1"]);
    await log.flushed();
    log.append(["2"]);
    await log.flushed();
    log.release();
    await processes.takeOver(turn.runId);
    const next = await open(turn, false, other);
    expect(next.committed()).toEqual(["0", "1", "2"]);
    next.append(["3"]);
    await next.flushed();
    next.release();
    await next.close(["4"]);
    expect(await readAll(turn, 2, other)).toEqual(["2", "3", "4"]);
  });

  guarantee("`runState` is that of the run", async ({ runId }) => {
    expect(await other.runState(runId)).toBe("running");
    await getWorld().events.create(runId, {
      eventType: "run_cancelled",
      specVersion: getWorld().specVersion,
    });
    expect(await engine.runState(runId)).toBe("ended");
    expect(await engine.runState(`wrun_${"0".repeat(26)}`)).toBe("unknown");
  });
});
