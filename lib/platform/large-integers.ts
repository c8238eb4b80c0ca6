/** Integers in JSON that a JavaScript number cannot hold. */

const LONG_INTEGER = /\d{16}/;
const INTEGER = /^-?\d{16,}$/;
/** The largest number has 309. */
const MAX_DIGITS = 309;
const PART_OF_NUMBER = /[\d.eE+-]/;

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
    const char = json.charAt(index);
    if (inString && char === "\\") index++;
    else if (char === '"') inString = !inString;
    else if (!inString && PART_OF_NUMBER.test(char)) {
      const start = index;
      while (PART_OF_NUMBER.test(json.charAt(index + 1))) index++;
      const integer = json.slice(start, index + 1);
      if (INTEGER.test(integer) && !isExact(integer)) yield { start, integer };
    }
  }
}

const isExact = (integer: string): boolean =>
  integer.length <= MAX_DIGITS && BigInt(Number(integer)) === BigInt(integer);
