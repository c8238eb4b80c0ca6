/**
 * A subagent: a separate conversation within a tool call. Its steps are recorded like those of its turn,
 * so a process that continues the turn repeats at most the model call in progress, and no command.
 */

import { callModel } from "@platform/agent/call-model";
import type { StepResult, ToolCall } from "@platform/agent/step-result";
import { cut, MAX_SUBAGENT_STEPS } from "@platform/agent/tools/limits";
import { type SubagentWork, toolFailure } from "@platform/agent/tools/tool";
import type { JSONValue, ModelMessage, ToolModelMessage } from "ai";
import { type ContextParts, callWithinContext, fitContext } from "../context/fit-context.ts";
import { canReachWeb, config } from "../platform/config.ts";
import { hasStopped } from "../running-turn/calls.ts";
import { measureStep } from "../running-turn/measure-step.ts";
import { answeringModels, resultsWithImages } from "../running-turn/model-call.ts";
import {
  type ActiveTurn,
  type Reservation,
  reservesCalls,
  type Subagent,
} from "../running-turn/state.ts";
import { recordUsage } from "../running-turn/store.ts";
import { openSandbox } from "../running-turn/turn-sandbox.ts";
import { completeSubagentCall, loadSubagent } from "./store.ts";

/** The client's view of a subagent while it works. */
type SubagentProgress = Readonly<{
  title: string;
  steps: { readonly tool: string; readonly summary: string }[];
  text: string;
  /** The live output of the running command. */
  output?: JSONValue;
}>;

export interface SubagentRun {
  readonly turnId: string;
  readonly turn: ActiveTurn;
  readonly subagent: Subagent;
  readonly work: SubagentWork;
  readonly signal: AbortSignal;
  readonly show: (progress: SubagentProgress) => void;
  /** Runs the calls of its step before, each at most once. */
  readonly runCalls: (
    turn: ActiveTurn,
    index: number,
    calls: readonly ToolCall[],
    showOutput: (output: JSONValue) => void,
  ) => Promise<ToolModelMessage | null>;
}

/** More model calls than one step of a subagent makes. */
const CALLS_OF_A_STEP = 20;
/** The summary is bounded, because all of it is sent again with each step. */
const MAX_SUMMARY_CHARS = 100;
const MAX_SHOWN_CALLS = 100;
const MAX_SHOWN_CHARS = 2_000;

/** The id of the message that a subagent writes. */
export const reportId = (callId: string): string => `${callId} report`;

/** @returns its report, or `{error}`. Throws the reason of `signal`, or an error of the database. */
export async function runSubagent(app: ContextParts, run: SubagentRun): Promise<JSONValue> {
  const { turnId, subagent, work, signal } = run;
  const { callId } = subagent;
  const key = { accountId: run.turn.account_id, turnId, load: run.turn.load };
  const loaded = await loadSubagent(app.db, key, callId);
  const { FAST_MODEL } = config();
  const request = { type: "text" as const, text: work.instructions };
  let turn: ActiveTurn = {
    ...run.turn,
    model_id: work.model === "fast" && FAST_MODEL ? FAST_MODEL : run.turn.model_id,
    history: [{ id: callId, role: "user", parts: [request] }],
    assistant_message_id: reportId(callId),
    steering: [],
    compaction: loaded.compaction,
    subagent,
  };
  let steps: readonly StepResult[] = loaded.steps;
  for (;;) {
    const previous = steps.at(-1);
    const progress = progressOf(work.task, steps);
    run.show(progress);
    if ((previous && hasStopped(previous)) || steps.length >= MAX_SUBAGENT_STEPS)
      return reportOf(steps);
    const showOutput = (output: JSONValue) => run.show({ ...progress, output });
    const results = previous
      ? await run.runCalls(turn, steps.length, previous.calls, showOutput)
      : null;
    signal.throwIfAborted();
    const reservation = turn.calls.open(signal);
    try {
      const called = await callOnce(
        app,
        { ...run, turn },
        steps,
        await resultsWithImages(app, turn, results, steps),
        reservation,
      );
      turn = called.turn;
      const entries = (called.measured?.usage ?? []).map((entry, number) => ({
        ...entry,
        step: subagent.step,
        tool: subagent.place,
        call: steps.length * CALLS_OF_A_STEP + number,
      }));
      const usage = reservation.releaseWith(entries);
      if (called.error !== undefined || !called.measured) {
        if (usage.length > 0) await recordUsage(app.db, key, usage);
        signal.throwIfAborted();
        return toolFailure(called.error ?? "The subagent failed");
      }
      const measured = { ...called.measured, usage };
      const { hasBudget } = await completeSubagentCall(app.db, key, callId, measured);
      turn = { ...turn, has_budget: hasBudget };
      steps = [...steps, called.measured.result];
    } finally {
      reservation.end();
    }
  }
}

/** Makes the next model call, with a request that fits. */
async function callOnce(
  app: ContextParts,
  { turnId, turn: given, signal }: SubagentRun,
  steps: readonly StepResult[],
  results: readonly ModelMessage[],
  reservation: Reservation,
) {
  let turn = given;
  const reserve = reservesCalls(turn) ? reservation.reserve : undefined;
  const measure = measureStep(app, steps.length, turn.model_id, 0, reserve);
  const { answer } = await callWithinContext(
    async (pass, rejected) => {
      const request = { turnId, turn, steps, results, reservation, signal, pass, rejected };
      const { state, made } = await fitContext(app, request);
      if (made) turn = { ...turn, compaction: made };
      return state;
    },
    async (context) => ({
      answer: await callModel({
        turn: { ...turn, context },
        canReachWeb: canReachWeb(),
        steps,
        results,
        sandbox: openSandbox(app, turn),
        ...answeringModels(app, turnId, turn, measure),
        signal,
        write: () => {},
      }),
    }),
  );
  const error = "error" in answer ? answer.error : undefined;
  const measured =
    "error" in answer ? await measure.fail("error", answer.sent) : await measure.complete(answer);
  /** The turn has the compaction that was made, if any; nothing was measured if the model was not called. */
  return { turn, measured, error };
}

function progressOf(title: string, steps: readonly StepResult[]): SubagentProgress {
  return {
    title,
    steps: steps
      .flatMap(({ calls }) => calls)
      .slice(-MAX_SHOWN_CALLS)
      .map(({ name, input }) => ({ tool: name, summary: summaryOf(input) })),
    text: cut(textOf(steps.at(-1)), MAX_SHOWN_CHARS).text,
  };
}

/** The first text of an input: a command, a path or a pattern. */
function summaryOf(input: unknown): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [];
  const text = values.find((value) => typeof value === "string") ?? "";
  return cut(text.replace(/\s+/g, " "), MAX_SUMMARY_CHARS).text;
}

function textOf(step: StepResult | undefined): string {
  const texts = (step?.messages ?? []).flatMap(({ role, content }) => {
    if (role !== "assistant") return [];
    if (typeof content === "string") return [content];
    return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  });
  return texts.join("\n").trim();
}

function reportOf(steps: readonly StepResult[]): JSONValue {
  const { text, truncated } = cut(textOf(steps.at(-1)));
  if (text !== "") return { result: text, steps: steps.length, ...(truncated && { truncated }) };
  return {
    result: `The subagent ended after ${steps.length} steps without a report.`,
    steps: steps.length,
  };
}
