/**
 * The end of a turn with an output schema: a valid call of `submit_output`. Everything here follows from the
 * recorded steps and tool calls, so a turn that continues after a crash decides the same.
 */
import type { JsonSchema } from "@platform/agent/output/json-schema";
import { NOTE } from "@platform/agent/prompt";
import type { StepResult } from "@platform/agent/step-result";
import { SUBMIT_OUTPUT } from "@platform/agent/tools/client-tools";
import { isOutputAccepted, outputIn } from "@platform/agent/tools/submit-output";
import type { ModelMessage, ToolModelMessage } from "ai";

/** How often the model gets the errors of an invalid output. */
const MAX_CORRECTIONS = 3;
const MAX_ERROR_CHARS = 500;

/** The message for a model that has stopped without submitting. */
export const OUTPUT_REQUEST: ModelMessage = {
  role: "user",
  content: `${NOTE} You have stopped without calling submit_output. Call it now, with the complete output of this run.`,
};

export const NOT_SUBMITTED = "output_invalid: The model stopped without submitting an output";

/**
 * Returns the output that the last step has submitted, or why the turn fails; undefined if the model is to be
 * called again.
 * @param results of the tools that the last step has called
 * @param earlier outputs that were valid, but judged to be incomplete
 */
export function submissionIn(
  schema: JsonSchema,
  steps: readonly StepResult[],
  results: ToolModelMessage | null,
  earlier = 0,
): { readonly output: { readonly value: unknown } } | { readonly error: string } | undefined {
  const { calls = [] } = steps.at(-1) ?? {};
  const answersTo = (id: string) =>
    (results?.content ?? []).flatMap((part) =>
      part.type === "tool-result" && part.toolCallId === id && "value" in part.output
        ? [part.output.value]
        : [],
    );
  const submissions = calls.filter(({ name }) => name === SUBMIT_OUTPUT);
  for (const { id, input } of submissions) {
    // If two calls have one id, it is unknown which one was accepted.
    const [answer, ...others] = answersTo(id);
    if (others.length > 0 || !isOutputAccepted(answer)) continue;
    const submitted = outputIn(schema, input);
    if (submitted) return { output: { value: submitted.value } };
  }
  const corrections = steps.reduce((sum, step) => sum + submissionsIn(step), 0) - earlier;
  if (corrections <= MAX_CORRECTIONS) return undefined;
  const last = answersTo(submissions.at(-1)?.id ?? "")[0];
  const reason = isFailure(last) ? last.error : "The input of submit_output was not valid JSON";
  const text = reason.replace(/^Invalid output:\s*/, "").replaceAll("\n", "; ");
  return { error: `output_invalid: ${text.slice(0, MAX_ERROR_CHARS)}` };
}

/** Returns whether the newest output is the one before it again: the model cannot do more. */
export function repeatsOutput(steps: readonly StepResult[]): boolean {
  const submitted = steps.flatMap(({ calls }) =>
    calls.flatMap(({ name, input }) => (name === SUBMIT_OUTPUT ? [JSON.stringify(input)] : [])),
  );
  return submitted.length > 1 && submitted.at(-1) === submitted.at(-2);
}

/** Counts the calls in the messages, because the step's `calls` are without the malformed ones. */
const submissionsIn = ({ messages }: StepResult): number =>
  messages.reduce((sum, { role, content }) => {
    if (role !== "assistant" || typeof content === "string") return sum;
    const isSubmission = (part: (typeof content)[number]) =>
      part.type === "tool-call" && part.toolName === SUBMIT_OUTPUT;
    return sum + content.filter(isSubmission).length;
  }, 0);

const isFailure = (value: unknown): value is { readonly error: string } =>
  typeof value === "object" &&
  value !== null &&
  "error" in value &&
  typeof value.error === "string";
