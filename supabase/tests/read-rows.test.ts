/** Rows as the database prints them become resources and pages of the API. */

import { pageOf, pageQuery } from "@platform/endpoint/contract/pagination";
import { expect, test } from "vitest";
import { z } from "zod";
import { rowOf } from "../../lib/platform/database/columns.ts";

const id = "0c6a5f4e-6f9e-4c43-8d3c-0b8f5b3f6a11";

test("fields are read from columns, dates are in UTC, and other columns are left out", () => {
  const resource = z.object({
    chatId: z.guid(),
    name: z.string(),
    note: z.string().optional(),
    sentAt: z.iso.datetime(),
    readAt: z.iso.datetime().nullable().meta({ description: "Null until it is read" }),
  });
  const row = { chat_id: id, label: "one", note: null, secret: "s", read_at: null };
  for (const sent_at of ["2026-11-24T10:53:21.123999+00:00", "2026-11-24T11:53:21.123+01:00"]) {
    expect(rowOf(resource, { name: "label" }).parse({ ...row, sent_at })).toEqual({
      ...{ chatId: id, name: "one", readAt: null },
      sentAt: "2026-11-24T10:53:21.123Z",
    });
  }
});

test.each([
  ["2026-11-24T10:53:21.123456+00:00", "2026-11-24T10:53:21.123456Z"],
  ["2026-11-24T12:23:21.1+01:30", "2026-11-24T10:53:21.100000Z"],
  ["2026-11-24T10:53:21+00:00", "2026-11-24T10:53:21.000000Z"],
])("a page ends at its last row, to the microsecond: %s", (created_at, at) => {
  const schema = pageOf(z.object({ id: z.guid() }), { limit: 1 });
  const { items, nextCursor } = schema.parse([
    { id, created_at },
    { id, created_at: "2026-11-23T00:00:00+00:00" },
  ]);
  expect(items).toEqual([{ id }]);
  expect(pageQuery.parse({ cursor: nextCursor }).cursor).toEqual({ at, id });
  expect(schema.parse([{ id, created_at }]).nextCursor).toBeNull();
});
