/** The options of a run. Chats, agent templates, scheduled prompts and turns store them as one object. */
import { z } from "zod";

const MAX_FALLBACK_MODELS = 3;

const fallbackModels = z.array(z.string().trim().min(1).max(200)).max(MAX_FALLBACK_MODELS);
const EFFORTS = ["low", "medium", "high"] as const;

const descriptions = {
  fallback_models:
    "The `id`s of models in `GET /api/models` that are called, in this order, while the model is overloaded, rate limited, unreachable, not available or fails. An empty list is none; when absent, the service's own list applies.",
  effort: "How long a reasoning model thinks; the model's own default when absent.",
  limits:
    "The limits of a turn with its subagents and summaries. They are checked before each model call. A turn that reaches a limit fails with an error such as `limit_reached: max_cost_usd`, and keeps its answer until then. Where several limits apply, such as a template's and a chat's, the narrowest does.",
};

/** The limits of a turn. Each is optional. */
const limits = z.strictObject({
  max_cost_usd: z.number().positive().max(10_000).optional().meta({
    description:
      "The cost of its model calls in USD. Its last call may exceed it. Models without a price need `allow_unpriced_models` of the account.",
  }),
  max_steps: z.int().positive().max(10_000).optional().meta({
    description: "Its model calls with the tools between them, without summaries.",
  }),
  max_duration_s: z.int().positive().max(604_800).optional().meta({
    description:
      "Seconds since its start. A model call or a tool that runs at that time is not interrupted.",
  }),
});
export const limitNames = ["max_cost_usd", "max_steps", "max_duration_s"] as const;

/** The options as they are given at the start and stored. An option that is not set is absent. */
export const runOptions = z.object({
  fallback_models: fallbackModels.optional().meta({ description: descriptions.fallback_models }),
  effort: z.enum(EFFORTS).optional().meta({ description: descriptions.effort }),
  limits: limits.optional().meta({ description: descriptions.limits }),
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
  limits: limits.optional().meta({
    description: `${descriptions.limits} They replace the present ones; an empty object removes them.`,
  }),
});
export type RunOptionChanges = z.output<typeof runOptionChanges>;

const isRemoved = (value: object | string): boolean =>
  value === "" || (!Array.isArray(value) && Object.keys(value).length === 0);

/** Returns the options that a body names as the database takes them, where null removes one. */
export const optionsIn = (body: RunOptionChanges) =>
  Object.fromEntries(
    Object.entries(runOptionChanges.parse(body)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, isRemoved(value) ? null : value]],
    ),
  );
