/** Files that a template names: fetched with the same distrust as a caller's, but not the caller's fault. */
import { type AppError, appError } from "../contract/app-error.ts";
import { log } from "../platform/log.ts";
import type { FetchedInput, Input } from "./media/fetch-inputs.ts";
import type { PlannedStep } from "./plan-edit.ts";
import type { EditStep } from "./port.ts";

const FIELD = "template";

export const templateInput = (url: string, kind: Input["kind"]): Input => ({
  field: FIELD,
  url: new URL(url),
  kind,
});

/** The audio files of an edit, in the order of its steps. */
export const audioInputs = (steps: readonly PlannedStep[]): Input[] =>
  steps.flatMap((step) => (step.kind === "audio" ? [templateInput(step.url, "audio")] : []));

/** @param audio The fetched files of `audioInputs`, in their order. */
export function withAudio(
  steps: readonly PlannedStep[],
  audio: readonly FetchedInput[],
): readonly EditStep[] {
  const files = [...audio];
  return steps.map((step) => {
    if (step.kind !== "audio") return step;
    const file = files.shift();
    if (!file) throw new Error("A step's audio was not fetched");
    const { url: _, ...rest } = step;
    return { ...rest, audio: file };
  });
}

/** An error about a template's file becomes a failure of the generation; others stay as they are. */
export function excuseCaller(error: AppError, failed: string): AppError {
  if (!error.fields?.includes(FIELD)) return error;
  log().warn({ cause: error.message }, "a template's file");
  return appError("upstream_error", failed);
}
