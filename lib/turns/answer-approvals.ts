/** Answers to the requests of an agent: by the parts of a message, and by the endpoint. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { tooManyTurns } from "@platform/endpoint/contract/quota";
import { optionsIn, type TurnOptions, turnOptions } from "@platform/endpoint/contract/run-options";
import { getStaticToolName, isToolUIPart, type UIMessage } from "ai";
import { signApproval } from "../approvals/effects.ts";
import {
  type ApprovalAnswer,
  isAskedWithOptions,
  type RefusedAnswers,
  recordAnswers,
} from "../approvals/store.ts";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import { isMadeWithSecret } from "../platform/find-secret.ts";
import type { Run } from "../running-turn/run.ts";
import type { EndParts } from "./finish-stream.ts";
import { getRun } from "./get-run.ts";
import type { StreamedTurn } from "./stream-turn.ts";

const answererOf = (caller: Caller) => ({ accountId: caller.ownerId, keyId: keyIdOf(caller) });

const refusals = {
  answered: appError("already_answered", "The approval has another answer already"),
  over: appError("already_answered", "The approval has expired, or its run has ended"),
  no_task: appError("invalid_request", "remember must be chat, because the run is not of a task"),
  not_memorable: appError(
    "invalid_request",
    "remember must not be provided: an action that can destroy something is asked for each time",
  ),
  too_many_turns: tooManyTurns,
};
const authorityEnded = appError(
  "run_stopped",
  "The run was stopped: the key that started it has ended, or its account has lost the artist. Start it again",
);

/** Returns the error, and has the run end if the answer has found it without authority. */
async function refuse(
  { engine }: Parts<"engine">,
  { outcome, stopped_turn_id: turnId }: RefusedAnswers,
): Promise<AppError> {
  if (outcome === "missing") return appError("not_found", "Approval not found");
  if (turnId === undefined) return refusals[outcome];
  await engine.wake(turnId);
  return authorityEnded;
}

/** The turn of a repeated message, or of an approval, lacks some of the options of the request. */
export const optionsDiffer = appError(
  "message_differs",
  "The turn of this message has other options: leave them out, or send them with a new message",
);

/**
 * Records the answer to an approval. The run continues after the last one.
 * Errors: 404 `Approval not found`; 409 when it has another answer, has expired, or its run has ended or has lost its
 * key or artist; 429 when the account has too many active turns.
 */
export async function answerApproval(
  app: EndParts,
  caller: Caller,
  runId: string,
  answer: ApprovalAnswer,
): Promise<Run | AppError> {
  const { accountId } = caller;
  const result = await recordAnswers(app.db, accountId, { runId }, [answer], answererOf(caller));
  if (result.outcome !== "recorded") return refuse(app, result);
  const run = await getRun(app, accountId, runId);
  await app.engine.wake(result.turn_id);
  return run;
}

/**
 * Records the answers that the last message of a client has, if it has any to a turn of the chat that waits for
 * them, and returns that turn, to be streamed from there. Errors: as `answerApproval`; 400 for a part that is
 * not the one that was sent; 409 for options that the turn does not have.
 */
export async function answerByMessage(
  { db, engine }: Parts<"db" | "engine">,
  request: TurnOptions & { readonly caller: Caller; readonly chatId: string },
  message: UIMessage | undefined,
): Promise<StreamedTurn | AppError | null> {
  if (message?.role !== "assistant") return null;
  const answers: ApprovalAnswer[] = [];
  for (const part of message.parts) {
    if (!isToolUIPart(part) || part.state !== "approval-responded") continue;
    const { id, approved, reason, signature } = part.approval;
    const name = part.type === "dynamic-tool" ? part.toolName : getStaticToolName(part);
    const call = { id: part.toolCallId, name, input: part.input };
    if (!isMadeWithSecret(signature ?? "", (secret) => signApproval(id, call, secret))) {
      return appError(
        "invalid_request",
        `The approval of ${part.toolCallId} is not as it was sent`,
      );
    }
    answers.push({ id, approved, ...(reason && { reason: reason.slice(0, 1_000) }) });
  }
  const [first] = answers;
  if (!first) return null;
  const { caller, chatId } = request;
  const options = optionsIn(request, turnOptions);
  if (!(await isAskedWithOptions(db, caller.accountId, first.id, options))) return optionsDiffer;
  const result = await recordAnswers(db, caller.accountId, { chatId }, answers, answererOf(caller));
  if (result.outcome !== "recorded") return refuse({ engine }, result);
  await engine.wake(result.turn_id);
  return { turnId: result.turn_id, runId: result.run_id, from: result.resume_index };
}
