/** When a schedule fires, in time zones that put their clocks forward and back. */

import { isTimezone } from "@platform/endpoint/contract/fields";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSchedule, nextRun } from "../../lib/tasks/next-run.ts";

const BERLIN = "Europe/Berlin";

function times(schedule: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = [];
  let last = new Date(after);
  while (found.length < count) {
    const next = nextRun(schedule, timezone, last);
    if (next === null) break;
    found.push(next.toISOString().slice(0, 16));
    last = next;
  }
  return found;
}

describe("a time that is skipped", () => {
  test("falls on the end of the gap, once", () => {
    expect(times("30 2 * * *", BERLIN, "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
    expect(times("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2)).toEqual([
      "2026-03-08T07:00",
      "2026-03-09T06:30",
    ]);
  });

  test("is no gap for a schedule of every half hour", () => {
    expect(times("*/30 * * * *", BERLIN, "2026-03-29T00:10:00Z", 4)).toEqual([
      "2026-03-29T00:30",
      "2026-03-29T01:00",
      "2026-03-29T01:30",
      "2026-03-29T02:00",
    ]);
  });
});

describe("a time that is repeated", () => {
  test("counts once, at its first occurrence", () => {
    const expected = ["2026-10-25T00:30", "2026-10-26T01:30"];
    expect(times("30 2 * * *", BERLIN, "2026-10-24T12:00:00Z", 2)).toEqual(expected);
    expect(times("30 2 * * *", BERLIN, "2026-10-25T00:45:00Z", 1)).toEqual(expected.slice(1));
  });

  test("counts twice for a schedule of every hour", () => {
    expect(times("15 * * * *", BERLIN, "2026-10-24T23:20:00Z", 4)).toEqual([
      "2026-10-25T00:15",
      "2026-10-25T01:15",
      "2026-10-25T02:15",
      "2026-10-25T03:15",
    ]);
  });
});

test("a time zone that shifts by half an hour", () => {
  expect(times("10 2 * * *", "Australia/Lord_Howe", "2026-10-02T12:00:00Z", 3)).toEqual([
    "2026-10-02T15:40",
    "2026-10-03T15:30",
    "2026-10-04T15:10",
  ]);
});

test("a date that does not exist has no time", () => {
  expect(nextRun("0 0 30 2 *", "UTC", new Date(0))).toBeNull();
  expect(times("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 1)).toEqual(["2028-02-29T00:00"]);
});

test.each([
  ["* * * * *", true],
  ["0 9 * * MON-FRI", true],
  ["*/15 8-18 1,15 JAN-JUN *", true],
  ["* * * *", false],
  ["* * * * * *", false],
  ["@hourly", false],
  ["60 * * * *", false],
  ["*/0 * * * *", false],
  ["", false],
  ["a b c d e", false],
])("%j is a schedule: %s", (text, expected) => {
  expect(isSchedule(text)).toBe(expected);
});

test.each([
  ["UTC", true],
  ["America/Argentina/Buenos_Aires", true],
  ["Mars/Base", false],
  ["+02:00", false],
  ["", false],
])("%j is a time zone: %s", (text, expected) => {
  expect(isTimezone(text)).toBe(expected);
});

/** A field of a schedule: everything, a step, a value or a range. */
const field = (min: number, max: number) => {
  const value = fc.integer({ min, max });
  return fc.oneof(
    fc.constant("*"),
    fc.integer({ min: 1, max: max - min }).map((step) => `*/${step}`),
    value.map(String),
    fc.tuple(value, value).map((ends) => ends.toSorted((a, b) => a - b).join("-")),
  );
};
const schedules = fc
  .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
  .map((fields) => fields.join(" "));

test("the next time is a whole minute, later, and none lies between", () => {
  fc.assert(
    fc.property(
      schedules,
      fc.constantFrom("UTC", BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"),
      fc.date({ min: new Date("2026-01-01"), max: new Date("2028-01-01"), noInvalidDate: true }),
      (schedule, timezone, after) => {
        const next = nextRun(schedule, timezone, after);
        expect(next?.getTime()).toBeGreaterThan(after.getTime());
        expect((next?.getTime() ?? 0) % 60_000).toBe(0);
        const between = new Date((after.getTime() + (next?.getTime() ?? 0)) / 2);
        expect(nextRun(schedule, timezone, between)).toEqual(next);
      },
    ),
    { numRuns: 200 },
  );
});
