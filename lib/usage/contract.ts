/** The usage of an account. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { instant } from "@platform/endpoint/contract/fields";
import { z } from "zod";

const count = z.int().nonnegative();

const sums = {
  runs: count.meta({ description: "Runs that have called a model" }),
  steps: count.meta({ description: "Model calls, those of subagents included" }),
  input_tokens: count,
  cached_input_tokens: count.meta({
    description: "Those of `input_tokens` that the provider had cached",
  }),
  output_tokens: count,
  cost_usd: z.number().nonnegative().nullable().meta({
    description: "In USD, without the unpriced calls; null when there are no others",
  }),
  unpriced_calls: count.meta({
    description: "Model calls, and generations of images or videos, without a known price",
  }),
  images: count,
  videos: count,
};

const part = {
  key: z.string().nullable().meta({
    description:
      "The day (`2026-11-22`, UTC), the id of the model, API key or artist, or the kind (`chat`, `headless`, `task`, `image`, `video`); null without an API key or an artist",
  }),
  ...sums,
};

export const usageReport = z.object({
  totals: z.object(sums),
  items: z.array(
    z.object({
      ...part,
      parts: z.array(z.object(part)).optional().meta({
        description: "With `split_by`: what the item consists of, the costliest first, at most 20",
      }),
    }),
  ),
});

const GROUPS = ["day", "model", "api_key", "artist", "kind"] as const;

export const getUsageContract = contract({
  method: "GET",
  path: "/api/usage",
  runCredential: true,
  words: "own",
  tool: true,
  summary: "Read what the account has used",
  description:
    "Every model call counts once, those of subagents included, and every image and video. A call counts when its result is stored: one whose process dies before counts when it is repeated. A call that was stopped before the model reported its tokens counts with an estimate of a token for each four characters.",
  tag: "Usage",
  family: "error",
  auth: "required",
  query: z.object({
    from: instant.optional().meta({
      description: "The first moment. Default: the start of the current month (UTC)",
    }),
    to: instant.optional().meta({ description: "The moment after the last. Default: now" }),
    group_by: z.enum(GROUPS).default("day").meta({
      description: "What an item stands for; there are at most 1,000",
    }),
    split_by: z.enum(GROUPS).optional().meta({
      description: "What a part of an item stands for. Default: items have no `parts`",
    }),
  }),
  responses: successResponse(
    "The totals, and the items in the order of their keys",
    usageReport.shape,
  ),
  errors: [],
});
export type UsageQuery = z.output<typeof getUsageContract.query>;

export const apiTags = { Usage: "What models and generations use and cost." };
