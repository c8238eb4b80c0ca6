/** Conditions of an agent's work that need no model. */
import { z } from "zod";
import { MAX_PATH_CHARS } from "./fields.ts";

const MAX_TEXT_CHARS = 10_000;
const MAX_PATTERN_CHARS = 1_000;

const path = z.string().min(1).max(MAX_PATH_CHARS).meta({
  description: "A file of the sandbox, absolute or relative to its home",
});
const text = z.string().min(1).max(MAX_TEXT_CHARS);
const tool = z.string().min(1).max(128);
const tolerance = z.number().nonnegative().optional().meta({
  description: "The difference between two numbers that is allowed. Default: 0",
});

export const check = z.discriminatedUnion("type", [
  z.object({ type: z.literal("answer_contains"), text }),
  z.object({
    type: z.literal("answer_matches"),
    pattern: z.string().min(1).max(MAX_PATTERN_CHARS).meta({ description: "In the syntax of RE2" }),
  }),
  z.object({ type: z.literal("answer_number"), value: z.number(), tolerance }),
  z.object({
    type: z.literal("output_matches"),
    schema: z.record(z.string(), z.unknown()).meta({
      description:
        "A JSON Schema of the run's output; without an `output_schema`, of the JSON that is the answer",
    }),
  }),
  z.object({ type: z.literal("file_exists"), path }),
  z.object({ type: z.literal("file_contains"), path, text }),
  z.object({
    type: z.literal("csv_equals"),
    path,
    csv: z.string().max(MAX_TEXT_CHARS).meta({
      description: "The expected file. Cells are compared as text, or as numbers if both are",
    }),
    tolerance,
  }),
  z.object({ type: z.literal("tool_called"), tool }),
  z.object({ type: z.literal("tool_not_called"), tool }),
  z.object({ type: z.literal("max_steps"), value: z.int().positive() }),
  z.object({ type: z.literal("max_cost_usd"), value: z.number().positive() }),
]);
export type Check = z.output<typeof check>;
