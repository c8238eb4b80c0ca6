import { expect, test } from "vitest";
import { Batches } from "../../packages/world-postgres/src/batches.ts";

test("items that are added during a write share the next one, and each gets its own result", async () => {
  const writes: (readonly number[])[] = [];
  const batches = new Batches<number, string>(async (items) => {
    writes.push(items);
    return items.map((item) => `wrote ${item}`);
  });
  const results = await Promise.all([1, 2, 3].map((item) => batches.add(item)));
  expect(results).toEqual(["wrote 1", "wrote 2", "wrote 3"]);
  expect(await batches.add(4)).toBe("wrote 4");
  expect(writes).toEqual([[1], [2, 3], [4]]);
});

test("a write that fails fails for all of its items, and for no others", async () => {
  const batches = new Batches<number, number>(async (items) => {
    if (items.includes(2)) throw new Error(`No to ${items}`);
    return items;
  });
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
  expect(outcomes).toMatchObject([
    { value: 1 },
    { reason: { message: "No to 2,3" } },
    { reason: { message: "No to 2,3" } },
  ]);
  expect(await batches.add(4)).toBe(4);
});
