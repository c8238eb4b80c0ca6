/** The models that a caller can choose. */
import { z } from "zod";
import { contract } from "../../contract/contract.ts";

export const listModelsContract = contract({
  method: "GET",
  path: "/api/models",
  runCredential: true,
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
      schema: z.object({
        status: z.literal("success"),
        default: z.string(),
        models: z.array(z.object({ id: z.string(), name: z.string(), provider: z.string() })),
      }),
    },
  },
  errors: ["upstream_error"],
});
