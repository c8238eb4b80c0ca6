/** The limits of a turn: of its model calls and its stream, and the limits that its caller has set. */

import { limitNoteFor } from "@platform/agent/prompt";
import type { Parts } from "../parts.ts";
import { type Decision, failed, type Step } from "../running-turn/step.ts";
import { recordLimitNote } from "./reservations.ts";

export const TOO_LONG = failed("The turn reached its limit of output");
const TOO_MANY_CALLS = failed("The turn reached its limit of model calls");

export async function limits(step: Step<Parts<"db">>): Promise<Decision> {
  if (step.isOver) return TOO_MANY_CALLS;
  if (step.tooLong.aborted) return TOO_LONG;
  const { limit_note: known, options } = step.current.turn;
  // A first request has just started, and ends with the message of the user.
  if (!options.limits || step.index === 0) return undefined;
  // Once three quarters of a limit are used, the model is informed, always at the end of the same request.
  const limit_note = known ?? (await recordLimitNote(step.app.db, step.key, step.index));
  step.change({ limit_note });
  if (limit_note?.step === step.index) {
    step.added.push(limitNoteFor(limit_note.limit, options.limits[limit_note.limit]));
  }
  return undefined;
}
