/** Numbers in [0, 1) that are the same for the same seed and text: a retry renders the same file. */
export type Random = () => number;

export function createRandom(seed: number, text = ""): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  for (const character of text) {
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
