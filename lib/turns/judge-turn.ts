/**
 * The outcome of a turn: when its agent has finished, the work is checked and judged, and the agent continues
 * with what is missing. A verdict is durable as a chunk of the turn's log, before anything follows from it.
 */
import type { ModelMessage, UIMessageChunk } from "ai";
import { z } from "zod";
import { meterModel } from "../agent/models/meter-model.ts";
import { modelsOf } from "../agent/models/model-outages.ts";
import { shareModel } from "../agent/models/share-model.ts";
import { type CheckResult, runCheck } from "../agent/outcome/checks.ts";
import { judge } from "../agent/outcome/judge.ts";
import { NOTE } from "../agent/prompt.ts";
import type { StepResult } from "../agent/step-result.ts";
import type { Outcome } from "../contract/run-options.ts";
import { isQueueRefusal } from "../platform/fair-queue.ts";
import { type Verdict, verdict as verdictShape } from "./contract.ts";
import type { ContextParts } from "./fit-context.ts";
import { costOf, toUsageEntry, type UsageEntry } from "./measure-step.ts";
import { reservesCalls } from "./store/model-calls.ts";
import { type ActiveTurn, recordUsage } from "./store/turns.ts";
import { openSandbox } from "./turn-sandbox.ts";

/** The `tool` of the calls of judges in usage entries, below the numbers of summaries. */
const JUDGE_CALLS = -1_000;

const outcomeChunk = z.object({
  type: z.literal("data-outcome"),
  id: z.string().transform((id) => Number(id.split("/").at(-1))),
  data: verdictShape,
});

/** A verdict, and the index of the model call before which it was given. */
export interface Given {
  readonly index: number;
  readonly verdict: Verdict;
}

/** Reads the verdicts of a turn from its log. */
export const verdictsIn = (log: readonly string[]): Given[] =>
  log.flatMap((line) => {
    if (!line.includes('"data-outcome"')) return [];
    const { success, data } = outcomeChunk.safeParse(JSON.parse(line));
    return success ? [{ index: data.id, verdict: data.data }] : [];
  });

/** The id is unique in the message, which may have the verdicts of an earlier turn. */
export const chunkOf = (turnId: string, { index, verdict }: Given): UIMessageChunk => ({
  type: "data-outcome",
  id: `${turnId}/${index}`,
  data: verdict,
});

/** What the agent gets after a verdict that lists what is missing. */
export const feedbackOf = ({ missing }: Verdict): ModelMessage => ({
  role: "user",
  content: [
    `${NOTE} Your work was checked against what was asked for. This is missing:`,
    ...missing.map((point) => `- ${point}`),
    "Complete the work, then give the whole answer again.",
  ].join("\n"),
});

interface Work {
  readonly turnId: string;
  readonly turn: ActiveTurn;
  readonly steps: readonly StepResult[];
  readonly earlier: readonly Given[];
  readonly output: { readonly value: unknown } | undefined;
  readonly signal: AbortSignal;
}

/** @throws the reason of the signal; an outage of the database or the sandbox */
export async function judgeTurn(app: ContextParts, outcome: Outcome, work: Work): Promise<Verdict> {
  const { turnId, turn, steps, earlier, output, signal } = work;
  const iteration = earlier.length + 1;
  const newest = steps.slice(earlier.at(-1)?.index ?? 0);
  const answer = output === undefined ? textOf(newest) : JSON.stringify(output.value, null, 2);
  const sandbox = openSandbox(app, turn);
  const validation = { accountId: turn.account_id, queue: app.queues.outputChecks };
  const evidence = { answer, output, steps, sandbox, validation, signal };
  const results: CheckResult[] = [];
  try {
    for (const check of outcome.checks ?? []) results.push(await runCheck(check, evidence));
  } catch (error) {
    if (!isQueueRefusal(error)) throw error;
    return { iteration, verdict: "not_judged", missing: [] };
  }
  const failed = results.filter(({ passed }) => !passed).map(({ detail }) => detail);
  if (failed.length > 0) return { iteration, verdict: "unsatisfied", missing: failed };
  const { rubric } = outcome;
  if (rubric === undefined) return { iteration, verdict: "satisfied", missing: [] };

  const key = { accountId: turn.account_id, turnId, load: turn.load };
  const reservation = turn.calls.open(signal);
  const usage: UsageEntry[] = [];
  const firstCall = (turn.load * 10 + iteration) * 10;
  const metering = {
    uses: [],
    ...(reservesCalls(turn) && {
      reserve: (estimateUsd: number | null) => reservation.reserve(estimateUsd, costOf(usage)),
    }),
    onUse: async (use: Parameters<typeof toUsageEntry>[1]) => {
      const place = { step: steps.length, tool: JUDGE_CALLS, call: firstCall + usage.length };
      usage.push(toUsageEntry(place, use));
    },
  };
  const model_id = outcome.model ?? turn.model_id;
  const models = {
    turnId,
    modelIds: modelsOf(app.models, { ...turn, model_id }),
    open: (id: string) => {
      const { model } = meterModel(app.models, id, metering);
      return shareModel(app.queues.modelCalls, model, turn.account_id);
    },
    outages: app.modelOutages,
  };
  const request = requestOf(turn);
  try {
    const missing = await judge({ models, request, rubric, answer, steps, sandbox, signal });
    if (missing === null) return { iteration, verdict: "not_judged", missing: [] };
    return {
      iteration,
      verdict: missing.length === 0 ? "satisfied" : "unsatisfied",
      missing: [...missing],
    };
  } finally {
    await Promise.all(metering.uses);
    if (usage.length > 0) await recordUsage(key, reservation.releaseWith(usage));
    reservation.end();
  }
}

function requestOf({ history }: ActiveTurn): string {
  const asked = history.findLast(({ role }) => role === "user");
  return (asked?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

const textOf = (steps: readonly StepResult[]): string =>
  steps
    .flatMap(({ messages }) =>
      messages.flatMap(({ role, content }) => {
        if (role !== "assistant") return [];
        if (typeof content === "string") return [content];
        return content.map((part) => (part.type === "text" ? part.text : ""));
      }),
    )
    .filter(Boolean)
    .join("\n\n");
