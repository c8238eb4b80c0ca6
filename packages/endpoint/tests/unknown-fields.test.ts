/** The header that lists ignored fields, and the one that makes the API refuse them. */

import { describe, expect, it } from "vitest";
import { listFields } from "../src/ignored-fields.ts";
import { prefersStrictHandling } from "../src/prefer.ts";

describe("x-ignored-fields", () => {
  it.each<[string, readonly string[], string]>([
    ["separates names", ["a", "context.b"], "a, context.b"],
    [
      "encodes what would separate or end it",
      ["a,b", "c\r\nd: e", "f\0"],
      "a%2Cb, c%0D%0Ad%3A%20e, f%00",
    ],
    ["encodes other letters", ["größe", "\u{1F600}"], "gr%C3%B6%C3%9Fe, %F0%9F%98%80"],
    [
      "cuts a long name, also within a character",
      [`${"x".repeat(63)}\u{1F600}`],
      `${"x".repeat(63)}%EF%BF%BD`,
    ],
    ["has at most twenty names", Array(30).fill("a"), Array(20).fill("a").join(", ")],
  ])("%s", (_, names, header) => {
    expect(listFields(names)).toBe(header);
    expect(new Headers({ "x-ignored-fields": header }).get("x-ignored-fields")).toBe(header);
  });

  it("has at most a thousand characters", () => {
    const list = listFields(Array(20).fill("\u{1F600}".repeat(32)));
    expect(list.length).toBeLessThanOrEqual(1_000);
    expect(list).toMatch(/^(%F0%9F%98%80){32}(, (%F0%9F%98%80){32})*$/);
  });
});

describe("Prefer", () => {
  it.each<[boolean, readonly string[]]>([
    [true, ["handling=strict"]],
    [true, ["Handling = STRICT"]],
    [true, ['handling="strict"']],
    [true, ["respond-async, wait=10;x=1, handling=strict; note=y"]],
    [true, ["respond-async", "handling=strict"]],
    [true, ['x="a, b", handling=strict']],
    [true, ['x="\\", handling=lenient, ", handling=strict']],
    [true, ["handling=strict, handling=lenient"]],
    [false, ["handling=lenient, handling=strict"]],
    [false, ["handling=lenient"]],
    [false, ["handling"]],
    [false, ['handling=""']],
    [false, ["handling=strictest"]],
    [false, ["x-handling=strict"]],
    [false, ["wait=10; handling=strict"]],
    [false, ['x="a, handling=strict"']],
    [false, ['x="a, handling=strict']],
    [false, ["return=minimal"]],
    [false, [""]],
    [false, []],
  ])("asks for strict handling: %s, %j", (expected, values) => {
    const headers = new Headers();
    for (const value of values) headers.append("prefer", value);
    expect(prefersStrictHandling(headers)).toBe(expected);
  });
});
