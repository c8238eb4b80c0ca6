import type { z } from "zod";
import type { getUsageContract, usageReport } from "@/lib/usage/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { formatCompact, formatCount, formatUsd } from "../../_ui/format.ts";

export type Report = Answer<typeof getUsageContract>;
export type UsageItem = z.output<typeof usageReport>["items"][number];
export type Sums = Omit<UsageItem, "key" | "parts">;

export interface Metric {
  readonly value: "cost" | "tokens" | "runs" | "media";
  readonly label: string;
  readonly of: (sums: Sums) => number;
  readonly format: (amount: number) => string;
}

export const METRICS: readonly Metric[] = [
  { value: "cost", label: "Cost", of: (sums) => sums.cost_usd ?? 0, format: formatUsd },
  {
    value: "tokens",
    label: "Tokens",
    of: (sums) => sums.input_tokens + sums.output_tokens,
    format: formatCompact,
  },
  { value: "runs", label: "Runs", of: (sums) => sums.runs, format: formatCount },
  {
    value: "media",
    label: "Images and videos",
    of: (sums) => sums.images + sums.videos,
    format: formatCount,
  },
];

export const NO_USAGE: Sums = {
  runs: 0,
  steps: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  unpriced_calls: 0,
  images: 0,
  videos: 0,
};
