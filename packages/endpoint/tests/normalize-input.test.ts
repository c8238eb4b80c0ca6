/** Input in either spelling, nulls of optional fields, unknown fields, and the fields that contracts share. */

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { commaList, instant, queryInteger } from "../src/contract/fields.ts";
import { normalizeInput, type UnknownField } from "../src/contract/normalize-input.ts";
import { pageOf, pageQuery } from "../src/contract/pagination.ts";

const schema = z.object({
  chat_id: z.string(),
  title: z.string().optional(),
  image: z.string().nullable().optional(),
  parts: z
    .array(z.object({ fileName: z.string() }))
    .max(2)
    .optional(),
  labels: z.record(z.string(), z.string()).optional(),
});

function normalize(value: unknown) {
  const conflicts: string[] = [];
  const unknown: string[] = [];
  const normalized = normalizeInput(schema, value, {
    onConflict: (name, other) => conflicts.push(`${name} ${other}`),
    onUnknown: ({ path }: UnknownField) => unknown.push(path.join(".")),
  });
  return { normalized, conflicts, unknown };
}

describe("an input", () => {
  it.each<[string, object, object]>([
    ["has fields in either spelling", { chatId: "1" }, { chat_id: "1" }],
    ["has them inside of lists", { parts: [{ file_name: "a" }] }, { parts: [{ fileName: "a" }] }],
    ["is without a null of an optional field", { title: null }, {}],
    ["keeps a null that the schema takes", { image: null }, { image: null }],
    ["keeps the keys of a record", { labels: { someKey: "a" } }, { labels: { someKey: "a" } }],
    ["keeps one item too many", { parts: [1, 2, 3, 4, 5] }, { parts: [1, 2, 3] }],
  ])("%s", (_, value, normalized) => {
    expect(normalize(value)).toEqual({ normalized, conflicts: [], unknown: [] });
  });

  it("reports two spellings that differ, and unknown fields with their paths", () => {
    const value = { chat_id: "1", chatId: "2", titel: "a", parts: [{ fileName: "a", size: 1 }] };
    expect(normalize(value)).toMatchObject({
      conflicts: ["chat_id chatId"],
      unknown: ["parts.0.size", "titel"],
    });
  });
});

describe("a shared field", () => {
  it("reads an integer of a query, and its default", () => {
    const limit = queryInteger({ min: 1, max: 100, default: 20 });
    expect([limit.parse("7"), limit.parse(undefined)]).toEqual([7, 20]);
    for (const text of ["0", "101", "1.5", "1e1", " 1", ""]) {
      expect(limit.safeParse(text).success).toBe(false);
    }
  });

  it("reads a list without repetitions", () => {
    const kinds = commaList("kinds", ["chats", "files"]);
    expect(kinds.parse("files,chats,files")).toEqual(["files", "chats"]);
    expect(kinds.safeParse("files,").success).toBe(false);
  });

  it("reads a time with any offset, within the years of a date", () => {
    expect(instant.parse("2026-01-31T23:30:00-01:00")).toBe("2026-02-01T00:30:00.000Z");
    expect(instant.safeParse("1969-12-31T23:59:59Z").success).toBe(false);
  });

  it("reads the cursor that a page has returned, and no other text", () => {
    const row = {
      created_at: "2026-01-31T10:00:00.123456+00:00",
      id: "3f333df6-90a4-4fda-8dd3-9485d27cee36",
    };
    const rows = [row, { ...row, id: "3f333df6-90a4-4fda-8dd3-9485d27cee37" }];
    const { items, nextCursor } = pageOf(z.looseObject({ id: z.string() }), { limit: 1 }).parse(
      rows,
    );
    expect(items).toHaveLength(1);
    expect(pageQuery.parse({ cursor: nextCursor }).cursor).toEqual({
      at: "2026-01-31T10:00:00.123456Z",
      id: row.id,
    });
    const impossible = Buffer.from(`2026-02-30T10:00:00.000000Z ${row.id}`).toString("base64url");
    for (const cursor of ["", "x", impossible]) {
      expect(pageQuery.safeParse({ cursor }).success).toBe(false);
    }
  });
});
