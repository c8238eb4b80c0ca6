/**
 * Measures the value of a JSON text without parsing it, by the brackets and commas outside of strings.
 * The text need not be valid JSON.
 * @returns `depth`, the deepest nesting of arrays and objects; and `values`, an estimate of the number
 * of values, at least half of it
 */
export function measureJson(text: string): { depth: number; values: number } {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c /* backslash */) index++;
      else if (code === 0x22 /* quote */) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x2c /* comma */) values++;
    else if (code === 0x5b /* [ */ || code === 0x7b /* { */) {
      values++;
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x5d /* ] */ || code === 0x7d /* } */) depth--;
  }
  return { depth: deepest, values };
}
