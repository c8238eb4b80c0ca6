/** Output of dependencies: one bounded line each, without secrets. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { consoleText } from "../../lib/platform/route-console.ts";

const LONG = "x".repeat(3_000_000);

test.each<[string, unknown[]]>([
  ["a text", [LONG]],
  ["a format", ["%s and %j", LONG, { LONG }]],
  ["an error", [new Error(LONG, { cause: new Error(LONG) })]],
  ["an object", [{ body: LONG, nested: { error: new Error(LONG) } }]],
  ["a list", [Array.from({ length: 100_000 }, () => LONG.slice(0, 100))]],
  ["many values", Array.from({ length: 1_000 }, () => LONG.slice(0, 10_000))],
  ["bytes", [Buffer.alloc(3_000_000)]],
  ["a value with a form of its own", [{ [inspect.custom]: () => LONG }]],
])("%s of megabytes is cut", (_, values) => {
  expect(consoleText(values).length).toBeLessThanOrEqual(4_001);
});

test.each<[unknown[], string]>([
  [["refused"], "refused"],
  [["code %d", 7, { a: 1 }], "code 7 { a: 1 }"],
  [
    [{ access_token: "hunter2", expires_in: 3600 }],
    "{ access_token: [redacted], expires_in: 3600 }",
  ],
  [
    [{ headers: { authorization: "Bearer hunter2" } }],
    "{ headers: { authorization: [redacted] } }",
  ],
  [['{"refresh_token":"hunter2","scope":"a"}'], '{"refresh_token":[redacted],"scope":"a"}'],
  [["Authorization: Bearer hunter2, then"], "Authorization: [redacted], then"],
  [["grant_type=x&token=hunter2&y=1"], "grant_type=x&token=[redacted]&y=1"],
  [["\u001b[31m⨯\u001b[39m failed"], "⨯ failed"],
])("%j is printed as %j", (values, text) => {
  expect(consoleText(values)).toBe(text);
});

test("a secret that is cut is not printed in part", () => {
  expect(consoleText([`api_key: "${"hunter2".repeat(2_000)}`])).toBe("api_key: [redacted]");
});
