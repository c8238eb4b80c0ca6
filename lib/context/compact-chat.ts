import { randomUUID } from "node:crypto";
import { planCompaction } from "@platform/agent/context";
import { BudgetRefusal } from "@platform/agent/models/budget-refusal";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import type { UsageEntry } from "../running-turn/measure-step.ts";
import type { ModelCallParts } from "../running-turn/model-call.ts";
import type { TurnState } from "../running-turn/state.ts";
import { reserveJobCall } from "../running-turn/store.ts";
import { openSandbox, writeFiles } from "../running-turn/turn-sandbox.ts";
import { describeContext, measureContext } from "./chat-context.ts";
import type { ChatContext, CompactedContext } from "./contract.ts";
import { MIN_ROOM_TOKENS } from "./fit-context.ts";
import {
  beginCompaction,
  changedChat,
  endCompaction,
  type MadeCompaction,
  type RequestedCompaction,
} from "./store.ts";
import { writeSummary } from "./write-summary.ts";

type Needs = ModelCallParts & Parts<"db" | "contextWindows" | "sandboxes">;

/** A summary that takes longer fails, which leaves the conversation as it is. */
const DEADLINE_MS = 4 * 60_000;
/** Longer than the deadline, so only the lease of a process that has died is taken over. */
const LEASE_SECONDS = 5 * 60;

/**
 * Compacts the conversation of a chat between two turns, as far as a turn would above three quarters of the
 * budget. The summary is paid for once: the chat is leased to one request before its model is called. The
 * compaction is recorded only if no turn has started in the meantime.
 * Errors: 402 for a budget that is spent, or a model without a price; 404 for the session and the chat; 409
 * while a turn is active or another request compacts the chat; 504 for a summary that takes too long.
 */
export async function compactChat(
  app: Needs,
  caller: Caller,
  address: ChatAddress,
): Promise<CompactedContext | AppError> {
  const request = { id: randomUUID(), address };
  const turn = await beginCompaction(app.db, request, app.models.defaultModelId, LEASE_SECONDS);
  if (isAppError(turn)) return turn;
  const usage: UsageEntry[] = [];
  const end = (made: MadeCompaction | null) =>
    endCompaction(app.db, request, turn, made, keyIdOf(caller), usage);
  const compacted = await compact(app, request, turn, usage).catch(async (error: unknown) => {
    await end(null);
    throw error;
  });
  if (isAppError(compacted)) {
    await end(null);
    return compacted;
  }
  const { made, context } = compacted;
  const refused = await end(made);
  if (refused) return refused;
  const compaction = made && {
    kind: made.kind,
    tokens_before: made.tokensBefore,
    tokens_after: made.tokensAfter,
  };
  return { ...context, compaction };
}

interface Compacted {
  /** Null if nothing could be compacted. */
  readonly made: MadeCompaction | null;
  readonly context: ChatContext;
}

async function compact(
  app: Needs,
  request: RequestedCompaction,
  turn: TurnState,
  usage: UsageEntry[],
): Promise<Compacted | AppError> {
  const measured = await measureContext(app, turn);
  const { units, state, budget, fixed } = measured;
  const before = describeContext(measured);
  const { tokens } = before;
  const size = { tokens, estimated: tokens, budget, isRequested: true };
  const plan = budget - fixed < MIN_ROOM_TOKENS ? null : planCompaction(units, state, size);
  if (!plan) return { made: null, context: before };

  const describe = (messageId: string, next: MadeCompaction["state"]): Compacted => {
    const context = describeContext({ ...measured, state: next });
    const { kind } = plan;
    const tokensAfter = Math.min(tokens, context.tokens);
    return {
      made: { kind, messageId, state: next, tokensBefore: tokens, tokensAfter },
      context,
    };
  };
  if (plan.kind === "cleared") {
    const sandbox = openSandbox(app, turn);
    await writeFiles(sandbox, plan.files);
    return describe(plan.state.clearedTo?.messageId ?? turn.message_id, plan.state);
  }

  const signal = AbortSignal.timeout(DEADLINE_MS);
  let refusal: AppError | undefined;
  const reserve = async (estimateUsd: number | null): Promise<void> => {
    const job = { accountId: request.address.accountId, id: request.id };
    refusal = await reserveJobCall(app.db, job, estimateUsd, changedChat);
    if (refusal) throw new BudgetRefusal(refusal);
  };
  try {
    // The reservations are released at the end of the compaction, with its lease.
    const summary = {
      ...{ turnId: request.id, turn, units: plan.units, budget, signal },
      reserve: turn.has_budget ? reserve : undefined,
      ...{ step: 0, place: 0, firstCall: 0 },
    };
    const text = await writeSummary(app, summary, usage);
    return describe(plan.to.messageId, { ...plan.state, summary: { text, to: plan.to } });
  } catch (error) {
    if (refusal) return refusal;
    if (isQueueRefusal(error)) return queueRefused(error);
    if (signal.aborted) return appError("upstream_timeout", "The model did not answer in time");
    throw error;
  }
}
