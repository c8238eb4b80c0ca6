/** Integers that a number cannot hold keep their digits. */

import { largeIntegersIn, quoteLargeIntegers } from "@platform/kit/large-integers";
import fc from "fast-check";
import { expect, test } from "vitest";

test.each([
  ['{"id":9007199254740993}', '{"id":"9007199254740993"}'],
  ["[-12345678901234567890 , 1]", '["-12345678901234567890" , 1]'],
  ["12345678901234567890", '"12345678901234567890"'],
  [`{"a":\n${"9".repeat(400)}}`, `{"a":\n"${"9".repeat(400)}"}`],
  // These are exact, or no integers.
  ['{"id":9007199254740992,"b":9007199254740991}', undefined],
  ["[1152921504606846976,100000000000000000000]", undefined],
  ["[0.12345678901234567890,1.0e20,12345678901234567890.5,12345678901234567890e1]", undefined],
  [`{"12345678901234567890":"\\"12345678901234567890"}`, undefined],
])("%s", (json, quoted = json) => {
  expect(quoteLargeIntegers(json)).toBe(quoted);
});

test("every other JSON is unchanged", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value: unknown = JSON.parse(quoteLargeIntegers(json));
      if ([...largeIntegersIn(json)].length === 0) expect(value).toEqual(JSON.parse(json));
    }),
  );
});

test("hostile texts take no longer than others", () => {
  const texts = ['"\\', "1".repeat(16), '"', ":1234567890123456e", "-"].map(
    (part) => `:1234567890123456${part.repeat(2_000_000 / part.length)}`,
  );
  const start = performance.now();
  for (const text of texts) quoteLargeIntegers(text);
  expect(performance.now() - start).toBeLessThan(2_000);
});
