/** The models that a caller can choose. */

import { contract } from "@platform/endpoint/contract/contract";
import { z } from "zod";

const perMillion = z.number().nonnegative().meta({
  description: "USD for a million tokens",
});

const model = z
  .object({
    id: z.string(),
    name: z.string(),
    provider: z.string(),
    context_window: z.int().positive().nullable().meta({
      description: "How many tokens the model takes at once; null when its service does not tell",
    }),
    pricing: z
      .object({ input: perMillion, output: perMillion })
      .nullable()
      .meta({ description: "Null when the price is not known" }),
  })
  .meta({ id: "Model" });

const modelList = z.object({
  status: z.literal("success"),
  default: z.string(),
  models: z.array(model),
});
export type ModelList = z.output<typeof modelList>;

export const listModelsContract = contract({
  method: "GET",
  path: "/api/models",
  runCredential: true,
  words: "own",
  tool: true,
  summary: "List the models that can be chosen",
  description:
    "`id` is the value for a chat's `modelId` and a headless run's `model`. `default` applies where none is given.",
  tag: "Models",
  family: "error",
  auth: "required",
  responses: {
    200: {
      description: "The models, in the provider's order",
      schema: modelList,
    },
  },
  errors: ["upstream_error"],
});

export const apiTags = { Models: "The models that a chat or a run may name." };
