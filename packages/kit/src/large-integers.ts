/** Integers in JSON that a JavaScript number cannot hold. */

/** Skips the search in most texts. */
const LONG_INTEGER = /(?:^|[[,:\s])-?\d{16}/;
const INTEGER = /^-?\d{16,}$/;
/** The largest number has 309. */
const MAX_DIGITS = 309;

/** Returns the JSON text with each integer that would lose digits as a text. */
export function quoteLargeIntegers(json: string): string {
  let quoted = "";
  let end = 0;
  for (const { start, integer } of largeIntegersIn(json)) {
    quoted += `${json.slice(end, start)}"${integer}"`;
    end = start + integer.length;
  }
  return quoted + json.slice(end);
}

/** Yields the integers of a JSON text that would lose digits. The text need not be valid JSON. */
export function* largeIntegersIn(json: string) {
  if (!LONG_INTEGER.test(json)) return;
  let inString = false;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (inString && code === 0x5c /* backslash */) index++;
    else if (code === 0x22 /* quote */) inString = !inString;
    else if (!inString && isOfNumber(code)) {
      const start = index;
      while (isOfNumber(json.charCodeAt(index + 1))) index++;
      const integer = json.slice(start, index + 1);
      if (INTEGER.test(integer) && !isExact(integer)) yield { start, integer };
    }
  }
}

/** Digits, signs, points and exponents. */
const isOfNumber = (code: number): boolean =>
  (code >= 0x2b && code <= 0x39 && code !== 0x2c && code !== 0x2f) ||
  code === 0x65 ||
  code === 0x45;

/** JSON is written with the digits that a number prints, which may be the same although its value is another one. */
const isExact = (integer: string): boolean =>
  String(Number(integer)) === integer ||
  (integer.length <= MAX_DIGITS && BigInt(Number(integer)) === BigInt(integer));
