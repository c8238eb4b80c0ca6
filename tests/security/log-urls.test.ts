import { stripUrls } from "@platform/kit/log";
import { expect, test } from "vitest";

test.each([
  ["https://h.test/a?sig=hunter2", "https://h.test/a?[redacted]"],
  ["get https://h.test/a?sig=hunter2 failed", "get https://h.test/a?[redacted] failed"],
  ["(https://u:hunter2@h.test/a)", "(https://h.test/a)"],
  ["postgres://u:hunter2@h.test:5432/db?password=hunter2", "postgres://h.test:5432/db?[redacted]"],
  ["https://h.test/#access_token=hunter2", "https://h.test/#[redacted]"],
  ["https://h.test/a\\?b=\\hunter2", "https://h.test/a\\?[redacted]"],
  ["https://h.test?a=1\nat file:///a/b.ts:1", "https://h.test?[redacted]\nat file:///a/b.ts:1"],
  ["https://h.test/@name and a@b.test?", "https://h.test/@name and a@b.test?"],
  [
    "a https://a.test/?x=hunter2, https://b.test/?y=hunter2",
    "a https://a.test/?[redacted] https://b.test/?[redacted]",
  ],
])("a line with %j", (text, expected) => {
  expect(JSON.parse(stripUrls(JSON.stringify({ text })))).toEqual({ text: expected });
});
