/** The options of a run. Chats, agent templates, scheduled prompts and turns store them as one object. */
import { z } from "zod";

const MAX_FALLBACK_MODELS = 3;

const fallbackModels = z.array(z.string().trim().min(1).max(200)).max(MAX_FALLBACK_MODELS);
const EFFORTS = ["low", "medium", "high"] as const;

const descriptions = {
  fallback_models:
    "The `id`s of models in `GET /api/models` that are called, in this order, while the model is overloaded, rate limited, unreachable, not available or fails. An empty list is none; when absent, the service's own list applies.",
  effort: "How long a reasoning model thinks; the model's own default when absent.",
};

/** The options as they are given at the start and stored. An option that is not set is absent. */
export const runOptions = z.object({
  fallback_models: fallbackModels.optional().meta({ description: descriptions.fallback_models }),
  effort: z.enum(EFFORTS).optional().meta({ description: descriptions.effort }),
});
export type RunOptions = z.output<typeof runOptions>;

/** The options as a change names them. An empty text removes one. */
export const runOptionChanges = z.object({
  fallback_models: z
    .union([fallbackModels, z.literal("")], {
      error: `fallback_models must be a list of at most ${MAX_FALLBACK_MODELS} ids of models`,
    })
    .optional()
    .meta({ description: `${descriptions.fallback_models} An empty text removes the list.` }),
  effort: z
    .enum([...EFFORTS, ""])
    .optional()
    .meta({ description: `${descriptions.effort} An empty text removes it.` }),
});
export type RunOptionChanges = z.output<typeof runOptionChanges>;

/** Returns the options that a body names as the database takes them, where null removes one. */
export const optionsIn = (body: RunOptionChanges) =>
  Object.fromEntries(
    Object.entries(runOptionChanges.parse(body)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value === "" ? null : value]],
    ),
  );
