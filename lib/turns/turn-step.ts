/**
 * One step of a turn. It runs the tools that the last answer called, then makes the next model call. In
 * this order it can be repeated safely: each answer is committed before its tool calls start, so each of
 * them is either recorded under its id or was never started.
 */
import { approvals } from "../approvals/system.ts";
import { limits } from "../budgets/limits.ts";
import { context } from "../context/system.ts";
import { textOf } from "../outcome/judge-turn.ts";
import { outcome, output } from "../outcome/systems.ts";
import type { Parts } from "../parts.ts";
import { clientCalls } from "../running-turn/calls.ts";
import type { FileParts } from "../running-turn/message-files.ts";
import {
  type Decision,
  type End,
  failed,
  type RunningTurn,
  type Step,
  type System,
  type Wait,
} from "../running-turn/step.ts";
import { steering } from "../steering/system.ts";
import type { ToolParts } from "../tools/run-tool-calls.ts";
import { clientAnswers, tools } from "../tools/system.ts";
import { storeWorkspace } from "../tools/turn-workspace.ts";
import { modelCall } from "./call-step.ts";
import { commit } from "./commit-step.ts";
import { type EndParts, finishStream, partsBefore, turnMetadata } from "./finish-stream.ts";
import { suspendTurn } from "./store/turns.ts";
import { titleChat } from "./title-chat.ts";

/** The parts of the service that a step uses. */
export type StepParts = ToolParts & EndParts & FileParts & Parts<"contentStorage">;

const systems: readonly System<StepParts>[] = [
  approvals,
  tools,
  clientAnswers,
  output,
  outcome,
  limits,
  begin,
  steering,
  context,
  modelCall,
  commit,
];

/** Returns the turn for its next step, null when it has none, and `waiting` when its client is to continue it. */
export async function runStep(step: Step<StepParts>): Promise<RunningTurn | "waiting" | null> {
  for (const system of systems) {
    const decision = await system(step);
    if (!decision) continue;
    if ("next" in decision) return decision.next;
    if ("waitsFor" in decision) return suspend(step, decision);
    return end(step, decision);
  }
  throw new Error("No system has ended the step");
}

/** Opens the stream of the turn. */
function begin(step: Step<unknown>): Decision {
  const { turn, call } = step.current;
  if (step.index > 0) return undefined;
  if (turn.sandbox_state === null) {
    call?.cancel();
    return failed("sandbox_missing: Sandbox not initialized");
  }
  if (!step.progress?.started) step.write({ type: "start", messageId: turn.assistant_message_id });
  return undefined;
}

/** Lets the turn wait for its client. Its run then holds no process until the turn is woken. */
async function suspend(step: Step<StepParts>, wait: Wait): Promise<"waiting"> {
  await step.current.log.flushed();
  const { waitsFor, maxSeconds } = wait;
  const { areWebhooksDue } = await suspendTurn(
    step.app.db,
    step.key,
    step.index,
    waitsFor,
    maxSeconds,
  );
  if (areWebhooksDue) step.app.webhookWorker.wake();
  return "waiting";
}

async function end(step: Step<StepParts>, ending: End): Promise<null> {
  const { turn, steps, log } = step.current;
  const { answer, error = null, finishReason, lastStep = null, output } = ending;
  const stored = await storeWorkspace(step.app, step.at.runId, turn, steps);
  const all = answer ? [...steps, answer] : steps;
  const last = answer ?? step.previous;
  // Only a turn of a chat ends with open calls.
  const open = turn.headless || !last ? [] : clientCalls(last);
  const hasEnded = await finishStream(step.app, log, {
    ...step.key,
    messageId: turn.assistant_message_id,
    end: ending.end,
    error,
    metadata: turnMetadata(turn, all, finishReason),
    partsBefore: partsBefore(turn),
    steering: turn.steering,
    openQuestions: new Set(open.map(({ id }) => id)),
    lastStep,
    lastParts: stored,
    output,
  });
  if (hasEnded && ending.end === "completed") {
    await titleChat(step.app, step.at.turnId, turn, textOf(all));
  }
  return null;
}
