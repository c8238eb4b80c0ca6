/**
 * Files that a template names: as untrusted as a caller's files, but their errors are not the
 * caller's.
 */
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

/** Returns the audio files of an edit, in the order of its steps. */
export const audioInputs = (steps: readonly PlannedStep[]): Input[] =>
  steps.flatMap((step) => (step.kind === "audio" ? [templateInput(step.url, "audio")] : []));

/** Adds the fetched files of `audioInputs` to the steps. @param audio in the order of `audioInputs` */
export function withAudio(
  steps: readonly PlannedStep[],
  audio: readonly FetchedInput[],
): readonly EditStep[] {
  const files = [...audio];
  return steps.map((step) => {
    if (step.kind !== "audio") return step;
    const file = files.shift();
    if (!file) throw new Error("The audio of a step was not fetched");
    const { url: _, ...rest } = step;
    return { ...rest, audio: file };
  });
}

/**
 * Turns an error about a template's file into a failure of the generation; returns others unchanged.
 */
export function excuseCaller(error: AppError, failed: string): AppError {
  if (!error.fields?.includes(FIELD)) return error;
  log().warn({ cause: error.message }, "A file of a template cannot be used");
  return appError("upstream_error", failed);
}
