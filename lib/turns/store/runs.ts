/** The queries of runs: how they are provisioned, listed, watched and cancelled. */

import type { ClientTool } from "@platform/agent/tools/client-tools";
import type { UntrustedSource } from "@platform/endpoint/contract/approvals";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import type { RunOptions } from "@platform/endpoint/contract/run-options";
import type { UIMessage } from "ai";
import { z } from "zod";
import type { Deliver } from "../../delivery/contract.ts";
import { deliveryReason } from "../../delivery/reasons.ts";
import { config } from "../../platform/config.ts";
import { rowOf, sentenceOf } from "../../platform/database/columns.ts";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { type Run, run } from "../../running-turn/run.ts";
import {
  plainCall,
  type RunFilters,
  type RunItem,
  type RunTrace,
  runDetail,
  runItem,
  runStep,
  subagentStep,
  toolCall,
} from "../run-contract.ts";
import type { RunKey } from "./claims.ts";

export interface RunPlan {
  readonly accountId: string;
  readonly artistId: string | null;
  /** A second plan with the same id gets the run of the first one. */
  readonly effectId: string;
  readonly turnId: string;
  readonly assistantMessageId: string;
  readonly title: string;
  readonly modelId: string;
  /** The run answers the last of them. */
  readonly messages: readonly UIMessage[];
  readonly key: RunKey;
  readonly kind: "headless" | "task";
  readonly callerKeyId: string | null;
  readonly setup: RunSetup;
}

/** The settings of a run besides its messages. Absent and null are alike. */
interface RunSetup {
  readonly output_schema?: object | null | undefined;
  readonly client_tools?: readonly ClientTool[] | null | undefined;
  readonly webhook_url?: string | null | undefined;
  readonly deliver?: Deliver | null | undefined;
  readonly untrusted?: readonly UntrustedSource[] | undefined;
  readonly connectors?: readonly string[] | null | undefined;
  readonly instructions?: string | null | undefined;
  readonly template_id?: string | null | undefined;
  readonly template_version?: number | null | undefined;
  /** Whether the account has chosen the version now, and not when it created the task. */
  readonly accepts_version: boolean;
  readonly options: RunOptions;
  /** The model that an own template replaces; null where the run has named one. */
  readonly default_model_id: string | null;
}

/** Returns a list, or undefined for an empty one. */
const filled = <T>(list: readonly T[] | null | undefined) => (list?.length ? list : undefined);

const provisionedRun = rowOf(
  z.object({
    turnId: z.string(),
    sessionId: z.string(),
    chatId: z.string(),
    /** Null until the run is started. */
    runId: z.string().nullable(),
  }),
);
export type ProvisionedRun = z.output<typeof provisionedRun>;

const provisioned = z.union([
  provisionedRun,
  z.object({
    refused: z.enum([
      "budget_reached",
      "chat",
      "messages_full",
      "session",
      "template",
      "template_version",
      "too_many_turns",
    ]),
  }),
]);

/**
 * Creates the session, the chat with its settings and messages, the key and the claim in one transaction.
 * @returns `refused` when the account may not start the run, and nothing was created: `too_many_turns`
 * when it has `ACCOUNT_ACTIVE_TURNS` active turns already, `budget_reached` when it has spent its budget,
 * `messages_full` when it would keep more than `ACCOUNT_MESSAGE_BYTES` of messages, else the missing part.
 */
export function provisionRun(db: Database, plan: RunPlan): Promise<z.output<typeof provisioned>> {
  const { output_schema: schema, client_tools, connectors, deliver, ...rest } = plan.setup;
  const tools = filled(client_tools);
  const entries = filled(deliver);
  const setup = {
    ...rest,
    connectors: filled(connectors),
    // As texts, because JSON in the database does not keep the order of fields.
    output_schema: schema ? JSON.stringify(schema) : undefined,
    client_tools: tools && JSON.stringify(tools),
    deliver: entries && { entries, approval_days: config().APPROVAL_DAYS },
  };
  return call(
    db,
    "provision_run",
    {
      maxActive: config().ACCOUNT_ACTIVE_TURNS,
      accountId: plan.accountId,
      artistId: plan.artistId,
      effectId: plan.effectId,
      turnId: plan.turnId,
      assistantMessageId: plan.assistantMessageId,
      title: plan.title,
      modelId: plan.modelId,
      messages: plan.messages.map(({ id, role, parts }) => ({ id, role, parts })),
      keyHash: plan.key.hash,
      keyPrefix: plan.key.prefix,
      keyName: plan.key.name,
      keyExpiresAt: plan.key.expiresAt,
      kind: plan.kind,
      callerKeyId: plan.callerKeyId,
      maxAccountBytes: config().ACCOUNT_MESSAGE_BYTES,
      setup,
    },
    provisioned,
  );
}

/** Deletes what `provisionRun` created. Returns false when the run has started nevertheless. */
export async function discardRun(db: Database, turnId: string): Promise<boolean> {
  const schema = z.object({ discarded: z.boolean() });
  return (await call(db, "discard_run", { turnId }, schema)).discarded;
}

/**
 * Makes the run the turn's run, unless another attempt has already set one.
 * @returns the turn's run, or null when the turn was deleted.
 */
export async function assignRun(
  db: Database,
  turnId: string,
  runId: string,
): Promise<string | null> {
  const schema = z.object({ run_id: z.string().nullable() });
  return (await call(db, "assign_run", { turnId, runId }, schema)).run_id;
}

const answeredCalls = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.enum(["missing", "not_waiting", "answered", "too_many_turns"]) }),
  z.object({ outcome: z.literal("unknown_call"), place: z.number() }),
  z.object({ outcome: z.literal("recorded"), turn_id: z.string() }),
]);

/** Records the results of calls that the run waits for. It may continue after the last one. */
export function answerToolCalls(
  db: Database,
  accountId: string,
  runId: string,
  results: readonly { readonly id: string; readonly output: unknown }[],
) {
  const args = {
    accountId,
    runId,
    // Wrapped, like the outputs of all tools.
    results: results.map(({ id, output }) => ({ id, output: { value: output } })),
    maxActive: config().ACCOUNT_ACTIVE_TURNS,
  };
  return call(db, "answer_tool_calls", args, answeredCalls);
}

/** Returns turns whose wait ended at least `dueSeconds` ago. */
export const turnsToWake = (db: Database, limit: number, dueSeconds: number): Promise<string[]> =>
  call(db, "turns_to_wake", { limit, dueSeconds });

const error = sentenceOf({
  never_started: "The turn was never started",
  not_started: "The turn could not be started",
}).nullable();

const delivery_reason = deliveryReason.nullable();
const foundRun = rowOf(run.extend({ turnId: z.string(), error, delivery_reason }), {
  turnId: "id",
})
  .transform(({ turnId, ...run }) => ({ turnId, run }))
  .nullable();

/** Returns a run of the account, headless or not, or null when there is none. */
export const selectRun = (
  db: Database,
  accountId: string,
  runId: string,
): Promise<{ turnId: string; run: Run } | null> =>
  call(db, "get_run", { accountId, runId }, foundRun);

const durationMs = (from: string | null, to: string | null) =>
  from === null || to === null ? null : Date.parse(to) - Date.parse(from);

const tokens = { input_tokens: z.int(), cached_input_tokens: z.int(), output_tokens: z.int() };
type WithTokens = Omit<RunItem, "usage" | "duration_ms"> & z.output<z.ZodObject<typeof tokens>>;

const withUsage = <R extends WithTokens>({
  input_tokens,
  cached_input_tokens,
  output_tokens,
  ...run
}: R) => ({
  ...run,
  usage: {
    input_tokens,
    cached_input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
  },
  duration_ms: durationMs(run.createdAt, run.finishedAt),
});

const storedRun = rowOf(
  runItem.omit({ usage: true, duration_ms: true }).extend({ ...tokens, error }),
).transform(withUsage);

/** Returns a page of the account's runs, newest first. */
export function selectRuns(
  db: Database,
  accountId: string,
  query: PageRequest & RunFilters,
): Promise<Page<RunItem>> {
  const args = {
    accountId,
    ...pageArguments(query),
    status: query.status ?? null,
    kind: query.kind ?? null,
    chatId: query.chat_id ?? null,
    artistId: query.artist_id ?? null,
    since: query.since ?? null,
    skill: query.skill ?? null,
  };
  return call(db, "list_runs", args, pageOf(storedRun, query));
}

/** Returns how much of the account waits for a person or a client. */
export const countWaiting = (db: Database, accountId: string): Promise<number> =>
  call(db, "count_waiting", { accountId });

const withDuration = <C extends { started_at: string | null; finished_at: string | null }>(
  call: C,
) => ({ ...call, duration_ms: durationMs(call.started_at, call.finished_at) });
const plainRow = rowOf(plainCall.omit({ duration_ms: true })).transform(withDuration);
const subagentRow = rowOf(subagentStep.extend({ tool_calls: z.array(plainRow) }));
const storedCall = rowOf(
  toolCall.omit({ duration_ms: true }).extend({ steps: z.array(subagentRow).optional() }),
).transform(withDuration);
const storedTrace = z.object({
  run: rowOf(
    runDetail.omit({ usage: true, duration_ms: true }).extend({ ...tokens, error }),
  ).transform(withUsage),
  steps: z.array(rowOf(runStep.extend({ tool_calls: z.array(storedCall) }))),
});

/** Returns null when the account has no such run. */
export const selectRunTrace = (
  db: Database,
  accountId: string,
  runId: string,
): Promise<RunTrace | null> =>
  call(db, "get_run_trace", { accountId, runId }, storedTrace.nullable());

const stopped = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("missing") }),
  z.object({
    // The status from before the request when the run ended in the same moment.
    outcome: z.enum(["active", "queued", "running", "completed", "failed", "cancelled"]),
    turn_id: z.string(),
  }),
]);

/** Records a stop request for the run, unless it has ended. */
export const requestRunStop = (db: Database, accountId: string, runId: string) =>
  call(db, "request_run_stop", { accountId, runId }, stopped);

/** Returns the given turns whose stop was requested, whose authority has ended, or that no longer exist. */
export const findStopped = (db: Database, turnIds: readonly string[]): Promise<string[]> =>
  call(db, "turns_to_stop", { ids: turnIds });

/** Returns the run that executes the turn; null before its first step has started. */
export const selectRunOfTurn = (db: Database, turnId: string): Promise<string | null> =>
  call(db, "run_of_turn", { turnId });
