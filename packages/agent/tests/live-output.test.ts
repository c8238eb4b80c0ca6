/** The displayed output of a command while it runs. */
import { expect, test } from "vitest";
import { storableTail } from "../src/tools/make-storable.ts";

const credential = "rk_0123456789abcdef";
const env = { AGENT_API_AUTH_HEADER: `x-api-key: ${credential}` };
const tail = (text: string, isCut = false) => storableTail(text, isCut, env, 40);

test.each([
  ["whole", `a ${credential} b`, "a [redacted] b"],
  ["the header", `a ${env.AGENT_API_AUTH_HEADER}\n`, "a [redacted]\n"],
  ["not complete yet", `a ${credential.slice(0, 9)}`, "a "],
  ["at the start of the header", "a x-api-k", "a "],
])("a credential is left out that is %s", (_, text, shown) => {
  expect(tail(text)).toBe(shown);
});

test("the rest of a credential that was cut with the start is left out", () => {
  const text = `${credential.slice(5)}\n${".".repeat(60)}\nend`;
  expect(tail(text, true)).toBe(`${".".repeat(36)}\nend`);
  expect(tail(credential.slice(5), true)).toBe("");
});

test("the newest characters are shown, and no half of one", () => {
  expect(tail("😀".repeat(21))).toBe("😀".repeat(20));
  expect(storableTail("😀y", false, env, 2)).toBe("\uFFFDy");
});
