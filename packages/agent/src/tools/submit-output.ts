import { z } from "zod";
import { checkOutput, type OutputValidation } from "../output/check-output.ts";
import { isWrapped, type JsonSchema } from "../output/json-schema.ts";
import { SUBMIT_OUTPUT } from "./client-tools.ts";
import { type AnyAgentTool, toolFailure } from "./tool.ts";

export const submitOutputDescription = `Submit the output of this run, which ends it. Call it exactly once, when the work is done.
- The input is the complete output; the user gets nothing else of the run.
- If it is not valid, the answer says why: correct it and call again.`;

const accepted = { accepted: true } as const;
const isAccepted = z.object({ accepted: z.literal(true) });

/** Returns the tool that validates a submitted output. Its answer decides whether the run ends. */
export function submitOutput(validation: OutputValidation): AnyAgentTool {
  return {
    name: SUBMIT_OUTPUT,
    description: submitOutputDescription,
    input: z.unknown(),
    async run(input, { signal }) {
      const submitted = outputIn(validation.schema, input);
      if (!submitted) return toolFailure("Invalid output: the input must be {output: …}");
      const errors = await checkOutput(validation, submitted, signal);
      return errors.length === 0 ? accepted : toolFailure(`Invalid output:\n${errors.join("\n")}`);
    },
  };
}

/** Returns whether the answer of the tool says that the output is valid. */
export const isOutputAccepted = (answer: unknown): boolean => isAccepted.safeParse(answer).success;

/** Returns the output in an input of the tool with its place there; undefined if it has none. */
export function outputIn(schema: JsonSchema, input: unknown) {
  if (!isWrapped(schema)) return { value: input, root: "" };
  const isObject = typeof input === "object" && input !== null && Object.hasOwn(input, "output");
  return isObject ? { value: Reflect.get(input, "output") as unknown, root: "/output" } : undefined;
}
