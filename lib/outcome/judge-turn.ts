/**
 * The outcome of a turn: when its agent has finished, the work is checked and judged, and the agent
 * continues with the missing parts. A verdict is durable in the chunk log before it has any effect.
 */

import { factsLine } from "@platform/agent/facts";
import { type CheckResult, runCheck } from "@platform/agent/outcome/checks";
import { judge } from "@platform/agent/outcome/judge";
import { NOTE } from "@platform/agent/prompt";
import type { StepResult } from "@platform/agent/step-result";
import type { Outcome } from "@platform/endpoint/contract/run-options";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { isSandboxError } from "@platform/sandbox/port";
import type { ModelMessage, UIMessageChunk } from "ai";
import { z } from "zod";
import type { Parts } from "../parts.ts";
import { measureCalls, type UsageEntry } from "../running-turn/measure-step.ts";
import { answeringModels, type ModelCallParts } from "../running-turn/model-call.ts";
import { type Verdict, verdict as verdictShape } from "../running-turn/run.ts";
import { type ActiveTurn, reservesCalls } from "../running-turn/state.ts";
import { recordUsage } from "../running-turn/store.ts";
import { openSandbox } from "../running-turn/turn-sandbox.ts";

/** Of a longer answer, the end is judged. */
const MAX_ANSWER_CHARS = 200_000;
/** The `tool` of the calls of judges in usage entries, below the numbers of summaries. */
const JUDGE_CALLS = -1_000;

const storedChunk = z.object({
  type: z.literal("data-outcome"),
  id: z.string().transform((id) => Number(id.split("/").at(-1))),
  data: verdictShape,
});

/** A verdict, and the index of the model call before which it was given. */
export interface GivenVerdict {
  readonly index: number;
  readonly verdict: Verdict;
}

/** Reads the verdicts of a turn from its log. */
export const verdictsIn = (log: readonly string[]): GivenVerdict[] =>
  log.flatMap((line) => {
    if (!line.includes('"data-outcome"')) return [];
    const { success, data } = storedChunk.safeParse(JSON.parse(line));
    return success ? [{ index: data.id, verdict: data.data }] : [];
  });

/** The id is unique in the message, which may have the verdicts of an earlier turn. */
export const outcomeChunkOf = (
  turnId: string,
  { index, verdict }: GivenVerdict,
): UIMessageChunk => ({
  type: "data-outcome",
  id: `${turnId}/${index}`,
  data: verdict,
});

/** The message to the agent after a verdict with missing parts. */
export const feedbackOf = ({ missing }: Verdict): ModelMessage => ({
  role: "user",
  content: [
    `${NOTE} Your work was checked against what was asked for. This is missing:`,
    ...missing.map((point) => `- ${point}`),
    "Complete the work, then give the whole answer again.",
  ].join("\n"),
});

/** The parts of the service that judge work. */
export type JudgeParts = ModelCallParts & Parts<"db" | "sandboxes">;

interface Work {
  readonly turnId: string;
  readonly turn: ActiveTurn;
  readonly steps: readonly StepResult[];
  readonly earlier: readonly GivenVerdict[];
  readonly output: { readonly value: unknown } | undefined;
  readonly signal: AbortSignal;
}

/** @throws the reason of the signal; an outage of the database */
export async function judgeTurn(app: JudgeParts, outcome: Outcome, work: Work): Promise<Verdict> {
  const { turnId, turn, steps, earlier, output, signal } = work;
  const iteration = earlier.length + 1;
  const newest = steps.slice(earlier.at(-1)?.index ?? 0);
  const text = textOf(newest).slice(-MAX_ANSWER_CHARS);
  const submitted = output === undefined ? undefined : JSON.stringify(output.value, null, 2);
  const answer = submitted?.slice(-MAX_ANSWER_CHARS) ?? text;
  const sandbox = openSandbox(app, turn);
  const validation = { accountId: turn.account_id, queue: app.queues.outputChecks };
  const evidence = { answer, output, steps, sandbox, validation, signal };
  const results: CheckResult[] = [];
  try {
    for (const check of outcome.checks ?? []) results.push(await runCheck(check, evidence));
  } catch (error) {
    if (!isQueueRefusal(error) && !isSandboxError(error)) throw error;
    return { iteration, verdict: "not_judged", missing: [] };
  }
  const failed = results.filter(({ passed }) => !passed).map(({ detail }) => detail);
  if (failed.length > 0) return { iteration, verdict: "unsatisfied", missing: failed };
  const { rubric } = outcome;
  if (rubric === undefined) return { iteration, verdict: "satisfied", missing: [] };

  const reservation = turn.calls.open(signal);
  const usage: UsageEntry[] = [];
  // Unique in the turn, even if another process judges the same work again.
  const first = { step: steps.length, tool: JUDGE_CALLS, call: (turn.load * 10 + iteration) * 10 };
  const reserve = reservesCalls(turn) ? reservation.reserve : undefined;
  const measure = measureCalls(app, first, reserve, usage);
  const model_id = outcome.model ?? turn.model_id;
  const models = answeringModels(app, turnId, { ...turn, model_id }, measure);
  // The text beside an output counts for a rubric, and not for checks of the output.
  const said = submitted === undefined ? answer : `${text}\n\nSubmitted output:\n${answer}`.trim();
  const facts = factsLine(turn.facts);
  const given = { facts, request: requestOf(turn), rubric, answer: said, steps, sandbox };
  try {
    const missing = await judge({ models, ...given, signal });
    if (missing === null) return { iteration, verdict: "not_judged", missing: [] };
    return {
      iteration,
      verdict: missing.length === 0 ? "satisfied" : "unsatisfied",
      missing: [...missing],
    };
  } finally {
    await measure.ended();
    const key = { accountId: turn.account_id, turnId };
    if (usage.length > 0) await recordUsage(app.db, key, reservation.releaseWith(usage));
    reservation.end();
  }
}

/** Returns the text of the newest message of the user. */
export function requestOf({ history }: Pick<ActiveTurn, "history">): string {
  const asked = history.findLast(({ role }) => role === "user");
  return (asked?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Returns the agent's text in the steps. */
export const textOf = (steps: readonly StepResult[]): string =>
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
