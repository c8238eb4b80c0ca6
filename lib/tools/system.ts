/** Runs the tools that the answer before has called. */
import type { ToolCall } from "@platform/agent/step-result";
import { mcpToolOf } from "@platform/agent/tools/mcp-tool";
import { sourcesOf } from "@platform/agent/tools/web-search";
import type { UIMessageChunk } from "ai";
import { config } from "../platform/config.ts";
import { clientCalls, ownCalls, recordIdOf } from "../running-turn/calls.ts";
import { resultsWithImages } from "../running-turn/model-call.ts";
import { closeCalls } from "../running-turn/read-chunks.ts";
import { CANCELLED, type Decision, type Step } from "../running-turn/step.ts";
import { markUntrusted } from "../running-turn/store.ts";
import { runToolCalls, type ToolCalls, type ToolParts } from "./run-tool-calls.ts";
import { findFinishedTools } from "./store.ts";
import { prepareWorkspace } from "./turn-workspace.ts";

/** The tools of a turn with a longer stream no longer show their progress. */
const MAX_CHARS_WITH_PROGRESS = 4 * 1024 * 1024;
const DAY_S = 24 * 60 * 60;
/** How long a headless run waits for its client. Then the calls have failed, and the agent continues. */
const MAX_WAIT_S = 7 * DAY_S;

export async function tools(step: Step<ToolParts>): Promise<Decision> {
  const { previous } = step;
  if (!previous) return undefined;
  if (step.unanswered.size > 0) return runReads(step, previous.calls);
  step.openCalls = await openCallsOf(step);
  if (!step.runsTools) return undefined;
  const { turn, knownCalls, workspaceUse: used = "none" } = step.current;
  const workspaceUse = await prepareWorkspace(
    step.app,
    step.at.runId,
    turn,
    previous.calls,
    used,
    async (sources) => step.addSources(await markUntrusted(step.app.db, step.key, sources)),
  );
  step.current = { ...step.current, workspaceUse };
  // The results of the client are recorded like the results of other tools.
  const calls = step.openCalls.length > 0 ? ownCalls(previous) : previous.calls;
  step.results = await runCalls(step, calls, knownCalls);
  const waits = turn.headless && step.openCalls.length > 0;
  const isFinished = waits || step.isRestarted || step.progress?.stepFinished;
  if (!isFinished && !step.stop.aborted) step.write({ type: "finish-step" });
  return undefined;
}

/** Lets the turn wait for the client that is to answer calls. */
export async function clientAnswers(step: Step<ToolParts>): Promise<Decision> {
  const { turn, steps, call } = step.current;
  // A call that has started is recorded with its usage, even if it is cancelled at once.
  if (step.stop.aborted && !call) return CANCELLED;
  if (step.openCalls.length > 0) {
    if (turn.headless) return { waitsFor: step.openCalls, maxSeconds: MAX_WAIT_S };
    return { end: "completed", finishReason: "tool-calls" };
  }
  step.added = await resultsWithImages(step.app, turn, step.results, steps);
  return undefined;
}

/** Runs the calls that only read and need no decision: their results are there once a person has decided. */
async function runReads(step: Step<ToolParts>, calls: readonly ToolCall[]): Promise<Decision> {
  const reads = calls.filter(
    ({ id, name }) =>
      !step.unanswered.has(id) &&
      !step.denials.has(id) &&
      mcpToolOf(step.current.turn.mcp_tools, name)?.readOnly,
  );
  await runCalls(step, reads, undefined);
  await step.current.log.flushed();
  return { waitsFor: [], maxSeconds: config().APPROVAL_DAYS * DAY_S };
}

/** Returns the calls of the answer before that the client has yet to answer. */
async function openCallsOf({ app, at, current, index, previous }: Step<ToolParts>) {
  const calls = previous ? clientCalls(previous) : [];
  if (calls.length === 0 || !current.turn.headless) return calls;
  const idOf = (call: ToolCall) => recordIdOf(index, call);
  const finished = new Set(await findFinishedTools(app.db, at.turnId, calls.map(idOf)));
  return calls.filter((call) => !finished.has(idOf(call)));
}

/** @param known the calls that were recorded before, where they are known already */
async function runCalls(
  step: Step<ToolParts>,
  calls: readonly ToolCall[],
  known: ToolCalls["known"],
) {
  const { turnId, runId, credential } = step.at;
  let hasSteering: boolean | undefined;
  const results = await runToolCalls(step.app, {
    turnId,
    runId,
    index: step.index,
    turn: step.current.turn,
    ...(credential && { credential }),
    calls,
    known,
    denials: step.denials,
    untrusted: () => step.current.turn.untrusted,
    update: ({ untrusted, has_budget, has_steering }) => {
      hasSteering ||= has_steering;
      step.addSources(untrusted);
      step.change({ has_budget });
    },
    signal: step.stop,
    write: (chunk) => {
      const isWritten = step.isRestarted || step.progress?.outputs.has(chunk.toolCallId);
      const isPreliminary = "preliminary" in chunk && chunk.preliminary;
      // It comes from a timer, and a log that has failed would throw there.
      const isTooMuch = step.current.log.failed.aborted || step.chars > MAX_CHARS_WITH_PROGRESS;
      if (isWritten || (isPreliminary && isTooMuch)) return;
      for (const each of withoutAnswer(step, chunk)) step.write(each);
      const call = calls.find(({ id }) => id === chunk.toolCallId);
      if (call?.name !== "web_search" || chunk.type !== "tool-output-available") return;
      for (const source of sourcesOf(call.id, chunk.output)) step.write(source);
    },
  });
  step.maySteer = hasSteering !== false;
  return results;
}

/** A call that is stopped while a person has yet to approve it counts as denied. */
function withoutAnswer({ progress }: Step<ToolParts>, chunk: UIMessageChunk) {
  if (chunk.type !== "tool-output-error" || !progress) return [chunk];
  const { toolCallId, errorText } = chunk;
  const open = progress.openCalls.filter((call) => call.toolCallId === toolCallId);
  return closeCalls(progress, open, errorText);
}
