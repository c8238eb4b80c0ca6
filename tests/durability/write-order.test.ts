/** Every reader sees the same valid writes of a run's stream, whoever else writes to it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type StreamWrite, WriteOrder } from "../../lib/engine/adapters/workflow/write-order.ts";

const write = (
  writer: string,
  number: number,
  firstIndex: number,
  chunks: readonly string[],
  isLast = false,
): StreamWrite => ({ writer, number, firstIndex, chunks, isLast });

const read = (writes: readonly StreamWrite[]): WriteOrder => {
  const order = new WriteOrder();
  for (const one of writes) order.add(one);
  return order;
};

describe("two writers", () => {
  it("the second takes over with its first write; the first one's later writes do not count", () => {
    const order = read([
      write("a", 0, 0, ["a0", "a1"]),
      write("b", 0, 2, ["b2"]),
      write("a", 1, 2, ["a2"]),
      write("b", 1, 3, ["b3"], true),
      write("a", 2, 4, ["a4"]),
    ]);
    expect(order.chunks).toEqual(["a0", "a1", "b2", "b3"]);
    expect(order.ended).toBe(true);
    expect(order.outcomeOf("a", 1)).toBe("superseded");
    expect(order.outcomeOf("b", 1)).toBe("current");
    expect(order.outcomeOf("b", 2)).toBeUndefined();
  });

  it("a second that was overtaken before its first write does not count at all", () => {
    const order = read([
      write("a", 0, 0, ["a0"]),
      write("a", 1, 1, ["a1"]),
      write("b", 0, 1, ["b1"]),
      // It happens to start where the log ends.
      write("b", 1, 2, ["b2"]),
      write("a", 2, 2, ["a2"]),
    ]);
    expect(order.chunks).toEqual(["a0", "a1", "a2"]);
    expect(order.outcomeOf("b", 1)).toBe("refused");
    expect(order.outcomeOf("a", 2)).toBe("current");
  });
});

/** Writers that each open the current log, and keep writing regardless of the others. */
const interleavings = fc
  .array(
    fc.record({ writer: fc.nat(3), open: fc.boolean(), count: fc.integer({ min: 1, max: 3 }) }),
  )
  .map((actions) => {
    const writes: StreamWrite[] = [];
    const writers = new Map<number, { id: string; number: number; next: number }>();
    for (const { writer, open, count } of actions) {
      const known = writers.get(writer);
      if (open || !known) {
        const next = read(writes).chunks.length;
        writers.set(writer, { id: `${writer}-${writes.length}`, number: 0, next });
        continue;
      }
      const chunks = Array.from({ length: count }, (_, n) => `${known.id}:${known.next + n}`);
      writes.push(write(known.id, known.number++, known.next, chunks));
      known.next += count;
    }
    return writes;
  });

describe("any interleaving of writers", () => {
  it("gives each chunk its own index, which never changes once it was read", () => {
    fc.assert(
      fc.property(interleavings, (writes) => {
        const { chunks } = read(writes);
        expect(chunks.map((chunk) => Number(chunk.split(":")[1]))).toEqual(
          chunks.map((_, index) => index),
        );
        for (let end = 0; end <= writes.length; end++) {
          const before = read(writes.slice(0, end)).chunks;
          expect(chunks.slice(0, before.length)).toEqual(before);
        }
      }),
    );
  });

  it("is the same when the stream is read again from its start", () => {
    fc.assert(
      fc.property(interleavings, fc.nat(), (writes, cut) => {
        const again = [...writes.slice(0, cut % (writes.length + 1)), ...writes];
        expect(read(again).chunks).toEqual(read(writes).chunks);
      }),
    );
  });

  it("tells the writers apart: what counts is all and only what the outcome says", () => {
    fc.assert(
      fc.property(interleavings, (writes) => {
        const order = read(writes);
        for (const one of writes) {
          const counts = one.chunks.every((chunk) => order.chunks.includes(chunk));
          const outcome = order.outcomeOf(one.writer, one.number);
          if (outcome === "current") expect(counts).toBe(true);
          if (outcome === "refused") expect(counts).toBe(false);
        }
      }),
    );
  });
});

it("writes that a World sorts by skewed clocks are put in order", () => {
  const writes = [
    write("a", 0, 0, ["0"]),
    write("b", 0, 3, ["3"]),
    write("a", 1, 1, ["1", "2"]),
    write("b", 1, 4, ["4"], true),
  ];
  expect(read(writes).chunks).toEqual(["0", "1", "2", "3", "4"]);
});
