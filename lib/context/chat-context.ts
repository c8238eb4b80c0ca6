/** The context of a chat between two turns, as the first model call of the next turn gets it. */

import { instructionsFor, skillsTextOf } from "@platform/agent/call-model";
import { type ContextState, fixedTokens, promptOf, tokensOf } from "@platform/agent/context";
import { type Unit, unitsOf } from "@platform/agent/conversation";
import { memoryNote } from "@platform/agent/prompt";
import { showFiles } from "@platform/agent/show-files";
import { estimateTokens } from "@platform/agent/tool-results";
import { toolSchemas } from "@platform/agent/tools";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import type { Sandbox } from "@platform/sandbox/port";
import type { Parts } from "../parts.ts";
import { canReachWeb } from "../platform/config.ts";
import { contextSize } from "../running-turn/model-call.ts";
import type { TurnState } from "../running-turn/state.ts";
import type { ChatContext } from "./contract.ts";
import { selectNextTurn } from "./store.ts";

/** Describes how full the context of a chat is. Errors: 404 for the session and the chat. */
export async function getChatContext(
  app: Parts<"db" | "contextWindows" | "models">,
  address: ChatAddress,
): Promise<ChatContext | AppError> {
  const turn = await selectNextTurn(app.db, address, app.models.defaultModelId);
  if (isAppError(turn)) return turn;
  return describeContext(await measureContext(app, turn));
}

export interface MeasuredContext {
  readonly modelId: string;
  readonly window: number;
  readonly budget: number;
  readonly units: readonly Unit[];
  readonly state: ContextState;
  /** The tokens of the instructions and the tools. */
  readonly fixed: number;
  /** Those of them that are about skills. */
  readonly ofSkills: number;
  /** The tokens of the memory of the workspace, which are a part of `fixed`. */
  readonly memory: number;
}

/** Measures a conversation to which no turn adds anything at the moment. */
export async function measureContext(
  app: Parts<"contextWindows" | "models">,
  turn: TurnState,
): Promise<MeasuredContext> {
  const tools = toolSchemas(turn);
  const { memory } = turn.workspace;
  const history = await showFiles(turn.history, withoutBytes);
  return {
    modelId: turn.model_id,
    ...(await contextSize(app, turn)),
    units: await unitsOf({ ...turn, history }, [], [], tools),
    state: turn.compaction?.state ?? {},
    fixed: await fixedTokens(instructionsFor(turn, canReachWeb()), tools),
    ofSkills: estimateTokens(skillsTextOf(turn)),
    memory: memory === null ? 0 : estimateTokens(memoryNote(memory)),
  };
}

/** An image counts the same whatever its bytes are, so a sandbox need not be started to measure them. */
export const withoutBytes: Sandbox = {
  run: () => Promise.reject(new Error("Only files are read to measure a conversation")),
  readFile: async () => new Uint8Array(),
  writeFile: async () => {},
};

export function describeContext({
  modelId,
  window,
  budget,
  units,
  state,
  fixed,
  ofSkills,
  memory,
}: MeasuredContext): ChatContext {
  const { summary, ...rest } = state;
  const prompt = promptOf(units, {
    ...rest,
    ...(summary && { summary: { ...summary, text: "" } }),
  });
  const withoutSummary = tokensOf(prompt);
  const results = tokensOf(prompt.filter(({ role }) => role === "tool"));
  const ofSummary = Math.max(0, tokensOf(promptOf(units, state)) - withoutSummary);
  const parts = [
    { kind: "system" as const, tokens: fixed - ofSkills - memory },
    { kind: "skills" as const, tokens: ofSkills },
    { kind: "memory" as const, tokens: memory },
    { kind: "messages" as const, tokens: withoutSummary - results },
    { kind: "tool_results" as const, tokens: results },
    { kind: "summary" as const, tokens: ofSummary },
  ].filter(({ tokens }) => tokens > 0);
  const tokens = fixed + withoutSummary + ofSummary;
  return { status: "success", model: modelId, window, budget, tokens, parts };
}
