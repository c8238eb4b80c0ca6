import type { ToolCall } from "@platform/agent/step-result";
import { showResults } from "@platform/agent/tool-results";
import { isRepeatable, runTool } from "@platform/agent/tools";
import { inStoredOrder } from "@platform/agent/tools/make-storable";
import type { MediaRequest } from "@platform/agent/tools/media-request";
import type { SearchAnswer, SearchFailure, SearchRequest } from "@platform/agent/tools/search";
import type { SubagentWork } from "@platform/agent/tools/tool";
import { type UntrustedSource, withSources } from "@platform/endpoint/contract/approvals";
import type { JSONValue, ToolModelMessage, UIMessageChunk } from "ai";
import { approvalIdOf, decideOn, type EffectParts, effectOf } from "../approvals/effects.ts";
import type { ContextParts } from "../context/fit-context.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { throughOutage } from "../platform/database/unavailable.ts";
import { recordIdOf } from "../running-turn/calls.ts";
import { contextSize } from "../running-turn/model-call.ts";
import type { ActiveTurn, KnownCall } from "../running-turn/state.ts";
import type { Denials } from "../running-turn/step.ts";
import { markUntrusted, recordUsage } from "../running-turn/store.ts";
import { writeFiles } from "../running-turn/turn-sandbox.ts";
import { liveOutput } from "./live-output.ts";
import { type MediaParts, makeMedia } from "./make-media.ts";
import { runSubagent } from "./run-subagent.ts";
import { finishTool, recordedOutput, startTools, type ToolEnd } from "./store.ts";
import {
  judgedRequest,
  type ToolEnvironment,
  type ToolWork,
  toolEnvironment,
  writeLoadedSkills,
} from "./tool-environment.ts";

type OutputChunk = Extract<
  UIMessageChunk,
  { type: "tool-output-available" | "tool-output-error" | "tool-output-denied" }
>;

/** The parts of the service that tools use. */
export type ToolParts = ContextParts &
  EffectParts &
  MediaParts &
  Parts<"contentStorage" | "describeApi" | "search">;

export interface ToolCalls extends ToolWork {
  /** The index of the step that runs the calls. */
  readonly index: number;
  /** The calls that were recorded before, where they are recorded already. */
  readonly known: readonly KnownCall[] | undefined;
  readonly denials: Denials;
  readonly write: (chunk: OutputChunk) => void;
  /** Notes the state of the turn after a tool has ended. */
  readonly update: (end: ToolEnd) => void;
}

/** How many subagents of one step work at the same time. */
const SUBAGENTS_AT_ONCE = 4;

const INTERRUPTED: JSONValue = {
  error:
    "The server or its database failed while this was running. Its outcome is unknown, and it was not run again.",
};

/**
 * Runs the calls in parallel, each at most once in the life of the turn: a call is recorded before
 * it starts and when it has ended. A call that has started but not ended was cut by a crash; its
 * result says so.
 * @returns the message with the results for the model; null if there are no calls.
 */
export async function runToolCalls(
  app: ToolParts,
  step: ToolCalls,
): Promise<ToolModelMessage | null> {
  const { turnId, calls, signal, write } = step;
  if (calls.length === 0) return null;
  const known =
    step.known ??
    (await startTools(
      app.db,
      turnId,
      calls.map((call) => recordIdOf(step.index, call, step.turn.subagent)),
    ));
  const environment = await toolEnvironment(app, step);
  if (step.index === 1 && !step.turn.subagent) await writeLoadedSkills(environment, step.turn);
  const lanes = Array.from({ length: SUBAGENTS_AT_ONCE }, () => Promise.resolve<unknown>(null));
  let subagents = 0;
  /** A subagent waits for the one before it in its lane. */
  const inLane = (call: ToolCall, run: () => Promise<JSONValue>): Promise<JSONValue> => {
    if (call.name !== "task") return run();
    const lane = subagents++ % SUBAGENTS_AT_ONCE;
    const running = (lanes[lane] ?? Promise.resolve()).then(run, run);
    lanes[lane] = running;
    return running;
  };
  const runOne = async (call: ToolCall, place: number): Promise<JSONValue> => {
    const recordId = recordIdOf(step.index, call, step.turn.subagent);
    const earlier = known.find((record) => record.id === recordId);
    const isRecorded = earlier && (earlier.finished || !isRepeatable(call.name));
    const output = isRecorded
      ? await outputOf(app.db, step.turn, turnId, earlier)
      : await inLane(call, () =>
          runAndRecord(app, step, call, place, {
            ...environment,
            isRepeated: earlier !== undefined,
          }),
        );
    if (step.denials.get(call.id)?.isAnswer) {
      write({ type: "tool-output-denied", toolCallId: call.id });
    } else if (signal.aborted && !earlier) {
      write({ type: "tool-output-error", toolCallId: call.id, errorText: "Stopped" });
    } else write({ type: "tool-output-available", toolCallId: call.id, output });
    return output;
  };
  // The other calls of the step may use the files that a skill brings.
  const skills = calls.map((call, place) => (call.name === "skill" ? runOne(call, place) : null));
  const loaded = Promise.allSettled(skills);
  const outputs = await allEnded(
    calls.map((call, place) => skills[place] ?? loaded.then(() => runOne(call, place))),
  );
  const results = calls.map((call, place) => ({
    toolCallId: call.id,
    toolName: call.name,
    value: inStoredOrder(outputs[place] ?? null),
  }));
  const shown = await showResults(results, () => contextSize(app, step.turn));
  const files = shown.flatMap((each) => each.files);
  if (files.length > 0) await writeFiles(environment.sandbox, files);
  return {
    role: "tool",
    content: calls.map((call, place) => ({
      type: "tool-result",
      toolCallId: call.id,
      toolName: call.name,
      output: shown[place]?.output ?? { type: "json", value: null },
    })),
  };
}

/** Rejects only after all have settled: a repeated step must addSources no call that still runs. */
async function allEnded<T>(running: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

async function runAndRecord(
  app: ToolParts,
  step: ToolCalls,
  call: ToolCall,
  place: number,
  { isRepeated, ...environment }: ToolEnvironment & { readonly isRepeated: boolean },
): Promise<JSONValue> {
  const { turnId, runId, turn, write, signal } = step;
  const callId = recordIdOf(step.index, call, turn.subagent);
  const show = (output: JSONValue) => {
    if (step.signal.aborted) return;
    write({ type: "tool-output-available", toolCallId: call.id, output, preliminary: true });
  };
  const runWork = (work: SubagentWork): Promise<JSONValue> =>
    runSubagent(app, {
      turnId,
      turn,
      subagent: { callId, step: step.index, place: place + 1 },
      work,
      signal: step.signal,
      show,
      runCalls: async (ofSubagent, index, calls, showOutput) =>
        runToolCalls(app, {
          ...step,
          turn: ofSubagent,
          index,
          calls,
          known: undefined,
          denials: await denialsInSubagent(app, calls, step),
          write: (chunk) => {
            if (chunk.type !== "tool-output-available" || !chunk.preliminary) return;
            showOutput(chunk.output as JSONValue);
          },
        }),
    });
  // The approval's id, if the call was approved: a repeated call uses it to find its earlier effect.
  const effectId = approvalIdOf(turnId, callId);
  let untrusted: readonly UntrustedSource[] = [];
  const live = call.name === "bash" ? liveOutput(environment.env, show) : null;
  const context = {
    ...environment,
    onOutput: live?.onOutput,
    judgedRequest: (method: string, url: URL, body: string | undefined) =>
      judgedRequest(app, { turnId, callId }, method, url, body),
    runSubagent: runWork,
    searchWeb: (request: SearchRequest) => searchWeb(app, step, place, request),
    scheduleTask: async (input: unknown) =>
      (await app.agentTasks()).scheduleTask(app, turn, effectId, input),
    listTasks: async () => (await app.agentTasks()).listTasks(app.db, turn.account_id),
    makeMedia: (request: MediaRequest) =>
      makeMedia(app, { turnId, runId, turn, effectId, isRepeated, signal }, request),
    addSources: (...sources: UntrustedSource[]) => {
      untrusted = withSources(untrusted, sources);
    },
  };
  const denial = step.denials.get(call.id);
  // A command that can reach the web may store downloaded content before it ends.
  if (call.name === "bash" && environment.canReachWeb && !denial) {
    await markUntrusted(app.db, { accountId: turn.account_id, turnId }, [
      { kind: "web", name: "commands" },
    ]);
  }
  const output = denial
    ? { error: denial.error }
    : await runTool(call.name, call.input, context, turn).finally(() => live?.end());
  const end = await throughOutage(() =>
    finishTool(app.db, { accountId: turn.account_id, turnId }, callId, output, untrusted),
  );
  if (end) step.update(end);
  return output;
}

/** Searches the web, and records the search as usage. */
async function searchWeb(
  { db, search }: Parts<"db" | "search">,
  { turnId, turn, index, signal }: ToolCalls,
  place: number,
  request: SearchRequest,
): Promise<SearchAnswer | SearchFailure> {
  const answer = await search.search(request, signal);
  if ("failure" in answer) return answer;
  const use = { step: index, tool: place + 1, call: 0, model_id: `search/${search.name}` };
  const tokens = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, estimated: false };
  const entry = { ...use, ...tokens, cost_usd: answer.costUsd };
  await recordUsage(db, { accountId: turn.account_id, turnId }, [entry]);
  return answer;
}

/** A subagent cannot wait for a person. Its agent can ask, in its own name. */
async function denialsInSubagent(
  app: ToolParts,
  calls: readonly ToolCall[],
  { turn, untrusted }: ToolCalls,
): Promise<Denials> {
  const denials = new Map<string, { error: string; isAnswer: boolean }>();
  for (const call of calls) {
    const asked = await effectOf(app, call, turn);
    const asking = { decisions: turn.decisions, untrusted: untrusted() };
    if (!asked || decideOn(asked, asking).decision === "run") continue;
    const error =
      "A subagent cannot do this, because the user must approve it. Report what is to be done, so that the agent itself can ask.";
    denials.set(call.id, { error, isAnswer: false });
  }
  return denials;
}

async function outputOf(
  db: Database,
  turn: ActiveTurn,
  turnId: string,
  known: KnownCall,
): Promise<JSONValue> {
  // Only JSON is stored.
  if (known.finished) return recordedOutput(known) as JSONValue;
  await finishTool(db, { accountId: turn.account_id, turnId }, known.id, INTERRUPTED);
  return INTERRUPTED;
}
