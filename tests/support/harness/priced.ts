/** The settings of the shared server with scripted models that have prices and an installation's fallback. */

/** In USD for a million tokens. */
export const PRICES = {
  /** A dollar for each call whose answer claims 2,000 tokens. */
  priced: { input: 500, output: 500 },
  cached: { input: 10, cached_input: 1, output: 20 },
  spare: { input: 1, output: 2 },
  "main-middle": { input: 10, output: 20 },
  "main-costly": { input: 1_000, output: 1_000 },
};

/** Each test of a fallback has a different main model, because a server remembers which ones have failed. */
const MAIN = [
  ...["start", "tenth", "middle", "skipped", "limited", "gone", "wrong", "small"],
  ...["subagent", "summary", "template", "signed", "full", "costly", "stopped"],
  ...["first", "second"],
];

const unpriced = ["fake-model", "fake-64k", "fake-hidden-64k"];
const main = MAIN.map((name) => `main-${name}`);

export const priced = {
  MODELS: [...unpriced, "priced", "cached", "spare", ...main].join(","),
  FALLBACK_MODELS: "spare",
  MODEL_PRICES: JSON.stringify(PRICES),
};
