import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { ModelPrice } from "../../platform/model-price.ts";

const TOKENS_OF_A_PRICE = 1_000_000;

/** Returns the cost in USD, or null when the price of the tokens is not known. */
export function costOf(
  price: ModelPrice | null,
  { inputTokens, outputTokens }: LanguageModelV4Usage,
): number | null {
  if (price?.input === undefined || price.output === undefined) return null;
  const input = inputTokens.total ?? 0;
  const cached = Math.min(inputTokens.cacheRead ?? 0, input);
  const cost =
    (input - cached) * price.input +
    cached * (price.cached_input ?? price.input) +
    (outputTokens.total ?? 0) * price.output;
  return cost / TOKENS_OF_A_PRICE;
}
