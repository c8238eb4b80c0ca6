/** The tool calls of an answer. */
import type { StepResult, ToolCall } from "@platform/agent/step-result";
import { isServerTool } from "@platform/agent/tools/client-tools";
import type { Subagent } from "./state.ts";

/** Returns the calls that the server runs itself. */
export const ownCalls = ({ calls }: StepResult): ToolCall[] =>
  calls.filter(({ name }) => isServerTool(name));

/** Returns the calls that the client answers: questions to the user, and calls of its tools. */
export const clientCalls = ({ calls }: StepResult): ToolCall[] =>
  calls.filter(({ name }) => !isServerTool(name));

/** Returns whether the model has stopped in this step, without calling a tool. */
export const hasStopped = ({ calls, hasInvalidCall }: StepResult): boolean =>
  calls.length === 0 && !hasInvalidCall;

/**
 * Returns the id under which the step of this index records a call. The index is needed because some models repeat
 * their call ids from answer to answer.
 */
export const recordIdOf = (index: number, call: ToolCall, subagent?: Subagent): string =>
  `${subagent ? `${subagent.callId}/` : ""}${index} ${call.id}`;
