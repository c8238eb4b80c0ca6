/** Asks for the calls whose policy says so, all of them before any call of the step runs. */

import type { ToolCall } from "@platform/agent/step-result";
import type { UIMessageChunk } from "ai";
import type { Parts } from "../parts.ts";
import { ownCalls, recordIdOf } from "../running-turn/calls.ts";
import type { Decision, Step } from "../running-turn/step.ts";
import { approvalIdOf, decideOn, type EffectParts, effectOf, requestChunk } from "./effects.ts";
import { type ApprovalRequest, askApprovals } from "./store.ts";

export async function approvals(step: Step<EffectParts & Parts<"db">>): Promise<Decision> {
  const { current, previous, progress, isRestarted } = step;
  const { turn, log } = current;
  const { turnId, runId } = step.at;
  if (!previous || !step.runsTools || step.stop.aborted) return undefined;
  const denials = new Map<string, { error: string; isAnswer: boolean }>();
  step.denials = denials;
  const asked = new Map<string, { call: ToolCall; chunk: UIMessageChunk }>();
  const requests: ApprovalRequest[] = [];
  for (const call of ownCalls(previous)) {
    const found = await effectOf(step.app, call, turn);
    if (!found) continue;
    const { category, decision } = decideOn(found, turn);
    if (decision === "run") continue;
    if (decision === "deny") {
      const error = `The policy of the account denies this (approvals.${category})`;
      denials.set(call.id, { error, isAnswer: false });
      continue;
    }
    const call_id = recordIdOf(step.index, call);
    const id = approvalIdOf(turnId, call_id);
    const { categories, effect, fields } = found;
    const request = { category, effect, is_memorable: await found.isMemorable() };
    asked.set(id, { call, chunk: requestChunk(id, runId, call, request, turn) });
    const { name: tool, input } = call;
    const named = { id, call_id, tool_call_id: call.id, tool, input };
    requests.push({ ...named, ...request, categories, fields });
  }
  if (requests.length === 0) return undefined;

  const shown = progress?.approvals ?? new Map();
  await log.flushed();
  const decisions = await askApprovals(step.app.db, step.key, requests, log.committed().length);
  let isOpen = false;
  for (const { id, state, reason } of decisions) {
    const { call, chunk } = asked.get(id) ?? {};
    if (!call || !chunk) continue;
    // No request was shown for calls that a remembered approval allows.
    const isShown = shown.has(id);
    if (!isShown && state !== "approved" && !isRestarted) step.write(chunk);
    if (state === "requested") {
      isOpen = true;
      continue;
    }
    const approved = state === "approved";
    if (!approved) denials.set(call.id, { error: denialOf(state, reason), isAnswer: true });
    if (isRestarted || (approved && !isShown) || shown.get(id)?.approved !== undefined) continue;
    const note = reason === null ? {} : { reason };
    step.write({ type: "tool-approval-response", approvalId: id, approved, ...note });
  }
  if (isOpen) step.unanswered = new Set([...asked.values()].map(({ call }) => call.id));
  return undefined;
}

/** Returns the text for the model about a call that was not approved. */
function denialOf(state: "denied" | "expired" | "cancelled", reason: string | null): string {
  if (state === "expired") return "Nobody has approved this in time";
  return `The user has denied this${reason ? `: ${reason}` : ""}. Do not try it in another way.`;
}
