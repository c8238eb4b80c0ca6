import type { Model } from "../_hooks/shared-reads.ts";

/** Formats a number of tokens, such as `200K` or `1M`. */
export const formatTokens = (tokens: number): string =>
  tokens >= 1_000_000
    ? `${trim(tokens / 1_000_000)}M`
    : tokens >= 1_000
      ? `${trim(tokens / 1_000)}K`
      : String(tokens);

const trim = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });

/** Formats the prices of a million input and output tokens, such as `$3 / $15`. */
export function formatPrice(pricing: NonNullable<Model["pricing"]>): string {
  if (pricing.input === 0 && pricing.output === 0) return "Free";
  return `${dollars(pricing.input)} / ${dollars(pricing.output)}`;
}

const dollars = (usd: number): string =>
  `$${usd.toLocaleString("en", { maximumFractionDigits: usd < 1 ? 3 : 2 })}`;

/** Returns the models whose name or id has every word of the search. */
export function findModels(models: readonly Model[], search: string): readonly Model[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter(({ id, name }) => {
    const text = `${name} ${id}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
