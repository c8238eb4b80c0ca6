import { z } from "zod";

const price = z.number().nonnegative();

/** The price of a model in USD: for a million tokens, and for each image or video. */
export const modelPrice = z.strictObject({
  input: price.optional(),
  /** Tokens that the vendor reads from its cache. Default: as `input`. */
  cached_input: price.optional(),
  output: price.optional(),
  image: price.optional(),
  video: price.optional(),
});
export type ModelPrice = z.output<typeof modelPrice>;
