import { randomUUID } from "node:crypto";
import type { ClientTool } from "@platform/agent/tools/client-tools";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import {
  budgetReached,
  chatFull,
  messageQuotaExceeded,
  tooManyTurns,
} from "@platform/endpoint/contract/quota";
import { optionsIn, type TurnOptions, turnOptions } from "@platform/endpoint/contract/run-options";
import { drain } from "@platform/kit/drain";
import { count } from "@platform/kit/telemetry/metrics";
import { inSpan } from "@platform/kit/telemetry/spans";
import type { UIMessage } from "ai";
import type { TurnAddress } from "../engine/port.ts";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import { checkModel } from "../models/list-models.ts";
import type { Parts } from "../parts.ts";
import { type ModelCallParts, startFirstCall } from "../running-turn/model-call.ts";
import type { TurnState } from "../running-turn/state.ts";
import { checkClientTools, checkOptions } from "../templates/check-options.ts";
import { answerByMessage, optionsDiffer } from "./answer-approvals.ts";
import type { ChatEntry, OnBusy } from "./contract.ts";
import type { EndParts } from "./finish-stream.ts";
import { awaitRun } from "./get-run.ts";
import { answerQuestions, readMessages, titleOf, userParts } from "./read-messages.ts";
import { reapDeadTurn } from "./reap-turn.ts";
import { replayAnswer } from "./replay-turn.ts";
import { draining, startWorkflow, unblockQueuedTurn } from "./start-workflow.ts";
import {
  abandonTurn,
  assistantParts,
  type Claim,
  type ClaimOutcome,
  claimOrRelease,
  runKey,
} from "./store/claims.ts";
import type { StreamedTurn } from "./stream-turn.ts";

/** The options apply to the turn of this message only. */
export interface TurnRequest extends TurnOptions {
  readonly caller: Caller;
  readonly sessionId: string;
  readonly chatId: string;
  readonly messages: readonly ChatEntry[];
  readonly contextLimit: number | undefined;
  /** The tools that the client runs. */
  readonly client_tools?: readonly ClientTool[] | undefined;
  readonly parentId?: string | undefined;
  /** `regenerate-message` asks for another answer, in place of the one that `messageId` names. */
  readonly trigger?: "submit-message" | "regenerate-message" | undefined;
  readonly messageId?: string | undefined;
  readonly onBusy: OnBusy;
  readonly signal: AbortSignal;
}

interface StartedTurn extends TurnAddress {
  readonly runId: string;
}

type Needs = EndParts & ModelCallParts & Parts<"queues" | "runningTurns">;

/** How often a request claims the chat again because the turn that had it was dead or has ended. */
const MAX_REPEATED_CLAIMS = 3;
/** A conflict names the active run, whose id is known a few milliseconds after the claim. */
const MAX_CONFLICT_WAIT_MS = 1_000;

const queueFull = appError(
  "queue_full",
  "Too many messages wait in this chat: wait for one to begin, or stop the chat",
  { headers: { "retry-after": "5" } },
);

/**
 * Stores the message and claims the chat in one transaction, then starts the durable run.
 * While another turn is active, `onBusy` decides whether the message is refused, waits or steers that turn.
 * @returns the turn to stream: a new one, one that waits, or the one that answers or has answered the message.
 */
export async function startTurn(
  app: Needs,
  request: TurnRequest,
  repeatedClaims = 0,
): Promise<StreamedTurn | AppError> {
  if (drain().hasBegun) return draining;
  const messages = await readMessages(request.messages);
  if (isAppError(messages)) return messages;
  const { accountId } = request.caller;
  const fault =
    (await checkModel(app, request.model, "model")) ??
    (await checkOptions(app, accountId, request)) ??
    (await checkClientTools(app, accountId, request.client_tools));
  if (fault) return fault;
  const answered = await answerByMessage(app, request, messages.at(-1));
  if (answered) return answered;
  const claim = await prepareClaim(app, request, messages);
  if (isAppError(claim)) return claim;

  const outcome = await inSpan(
    "turn.claim",
    { attributes: { "app.turn.id": claim.turnId } },
    async (span) => {
      const answer = await claimOrRelease(app.db, claim, app.engine.executesOwnRuns);
      span.set({ "app.claim.outcome": answer.outcome });
      return answer;
    },
  );
  switch (outcome.outcome) {
    case "claimed":
      count("agent_platform.turns.started", 1, { kind: "chat" });
      return startClaimed(app, request, claim.turnId, outcome.turn);
    case "answered":
      return replayAnswer(app, request.caller.accountId, request.chatId, outcome);
    case "active": {
      const active = { turnId: outcome.turn_id, runId: outcome.run_id };
      const isRetry = outcome.message_id === claim.messageId;
      const run = (await reapDeadTurn(app, active))
        ? null
        : await runOf(app, request, active, isRetry ? undefined : MAX_CONFLICT_WAIT_MS);
      if (run === null && repeatedClaims < MAX_REPEATED_CLAIMS) {
        return startTurn(app, request, repeatedClaims + 1);
      }
      if (isRetry && run) return run;
      return alreadyStreaming(isAppError(run) ? null : (run?.runId ?? null));
    }
    case "queued":
      await unblockTurn(app, request.chatId, outcome);
      return { accountId: request.caller.accountId, turnId: outcome.turn_id };
    case "waiting":
      await unblockQueuedTurn(app, request.chatId);
      return alreadyStreaming(null);
    case "queue_full":
      return queueFull;
    case "session_missing":
      return appError("not_found", "Session not found");
    case "chat_missing":
      return appError("not_found", "Chat not found");
    case "sandbox_missing":
      return appError("sandbox_missing", "Sandbox not initialized", {
        remedy: "Call POST /api/sandbox with the sessionId, then repeat the request",
      });
    case "too_many_turns":
      return tooManyTurns;
    case "budget_reached":
      return budgetReached;
    case "messages_full":
      return messageQuotaExceeded;
    case "chat_full":
      return chatFull;
    case "parent_missing":
      return appError("parent_not_found", "parentId is not a message of this chat");
    case "parent_differs":
      return appError("parent_differs", "The message is stored after another one than parentId");
    case "id_taken":
      return appError(
        "message_id_taken",
        "The message id belongs to an assistant message of this chat",
      );
    case "content_differs":
      return appError(
        "message_differs",
        "A message with this id and other content is stored: send the new content with a new id, and with parentId to replace the message",
      );
    case "options_differ":
      return optionsDiffer;
    case "answer_stale":
      return appError("already_answered", "The question has been answered already");
  }
}

/** Unblocks a queued turn: stops the turn that it interrupts, or ends one that is dead. */
async function unblockTurn(
  app: Needs,
  chatId: string,
  queued: Extract<ClaimOutcome, { outcome: "queued" }>,
): Promise<void> {
  const { active_turn_id: turnId, run_id: runId = null, interrupts } = queued;
  const isDead = turnId ? await reapDeadTurn(app, { turnId, runId }) : true;
  if (isDead) await unblockQueuedTurn(app, chatId);
  else if (turnId && interrupts) await app.engine.signalStop(turnId);
}

/**
 * Resolves with the turn and its run, with null when the turn has ended, or with an error when it
 * gets no run within `maxWaitMs`.
 */
async function runOf(
  app: Needs,
  { caller, chatId, signal }: TurnRequest,
  { turnId, runId }: TurnAddress,
  maxWaitMs?: number,
): Promise<StartedTurn | AppError | null> {
  if (runId !== null) return { turnId, runId };
  const run = await awaitRun(app, caller.accountId, chatId, signal, maxWaitMs);
  return isAppError(run) || run?.turnId === turnId ? run : null;
}

function alreadyStreaming(runId: string | null): AppError {
  return appError("stream_active", "A response is already streaming for this chat", {
    headers: runId === null ? {} : { "x-workflow-run-id": runId },
  });
}

/**
 * Starts the run and the first model call, and resolves when the first chunk is committed. From then on
 * the chat names the run, so a client that has this answer finds the turn in the chat, its stream and a
 * conflict.
 * @param turn if its first step is executed in this process
 */
async function startClaimed(
  app: Needs,
  { caller, signal }: TurnRequest,
  turnId: string,
  turn?: TurnState,
) {
  const started = startWorkflow(app, turnId, runCredentialForm(caller));
  if (turn) app.runningTurns.keepClaimed(turnId, { turn, call: startFirstCall(app, turnId, turn) });
  const runId = await started.catch(async (error: unknown) => {
    app.runningTurns.takeClaimed(turnId)?.call?.cancel();
    // The chat would stay blocked. If this fails as well, the claim expires after a minute.
    await abandonTurn(app.db, turnId);
    count("agent_platform.turns.ended", 1, { status: "failed" });
    throw error;
  });
  const stopped = new AbortController();
  const ends = AbortSignal.any([signal, stopped.signal]);
  const rest = app.engine.read({ turnId, runId }, 0, ends, true);
  const first = await rest.next();
  const stop = () => stopped.abort();
  return { turnId, runId, ...(!first.done && { opened: { first: first.value, rest, stop } }) };
}

async function prepareClaim(
  { db, models, engine }: Parts<"db" | "models" | "engine">,
  request: TurnRequest,
  messages: readonly UIMessage[],
): Promise<Claim | AppError> {
  const { caller, sessionId, chatId, contextLimit, parentId, onBusy } = request;
  const last = messages.at(-1);
  if (!last) return appError("invalid_request", "messages must not be empty");
  const turnId = randomUUID();
  const common = {
    accountId: caller.accountId,
    sessionId,
    chatId,
    turnId,
    messageId: last.id,
    title: titleOf(messages),
    defaultModelId: models.defaultModelId,
    contextLimit: contextLimit ?? null,
    parentId: parentId ?? null,
    replacesAnswer: request.trigger === "regenerate-message" ? (request.messageId ?? "") : null,
    key: runKey(turnId, runCredentialForm(caller)),
    callerKeyId: keyIdOf(caller),
    clientTools: request.client_tools?.length ? request.client_tools : null,
    options: optionsIn(request, turnOptions),
    onBusy,
    credential: runCredentialForm(caller),
    claimedBy: engine.processId,
  };
  const historyWith = (newest: UIMessage) =>
    messages.length > 1 ? [...messages.slice(0, -1), newest] : null;

  if (last.role === "user") {
    const parts = userParts(last);
    if (isAppError(parts)) return parts;
    return {
      ...common,
      assistantMessageId: randomUUID(),
      history: historyWith({ ...last, parts }),
      parts,
      partsBefore: null,
    };
  }
  const partsBefore = await assistantParts(db, caller.accountId, chatId, last.id);
  const parts = answerQuestions(partsBefore ?? [], last.parts);
  if (isAppError(parts)) return parts;
  return {
    ...common,
    assistantMessageId: last.id,
    history: historyWith({ ...last, parts }),
    parts,
    partsBefore: partsBefore ?? [],
  };
}

/** The sandbox authenticates its API calls in the form in which the caller authenticated. */
export const runCredentialForm = ({ credential }: Caller): RunCredentialForm =>
  credential.kind === "bearer" ? "bearer" : "key";
