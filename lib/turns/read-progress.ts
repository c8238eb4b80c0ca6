import type { UIMessageChunk } from "ai";

/** The progress of a turn's stream, and the open parts of its last step. */
export interface StreamProgress {
  /** Whether the stream has its `start` chunk. */
  readonly started: boolean;
  /** The number of model calls that have started to stream. */
  readonly steps: number;
  /** How often the last of them has started. */
  readonly attempts: number;
  /** Texts and reasoning that have not ended. */
  readonly openTexts: readonly { readonly type: "text" | "reasoning"; readonly id: string }[];
  /** Tool calls whose input is incomplete. */
  readonly openInputs: readonly { readonly toolCallId: string; readonly toolName: string }[];
  /** Tool calls without a result. */
  readonly openCalls: readonly { readonly toolCallId: string; readonly toolName: string }[];
  /** Ids of the tool calls that have a result in the last step. */
  readonly outputs: ReadonlySet<string>;
  readonly stepFinished: boolean;
}

/** Reads the progress from a turn's chunks, after a crash or before the turn is ended. */
export function readProgress(chunks: readonly UIMessageChunk[]): StreamProgress {
  let started = false;
  let steps = 0;
  let attempts = 0;
  let stepFinished = true;
  const openTexts = new Map<string, { type: "text" | "reasoning"; id: string }>();
  const openInputs = new Map<string, { toolCallId: string; toolName: string }>();
  const openCalls = new Map<string, { toolCallId: string; toolName: string }>();
  const outputs = new Set<string>();
  const clear = () => {
    for (const open of [openTexts, openInputs, openCalls, outputs]) open.clear();
  };
  for (const chunk of chunks) {
    switch (chunk.type) {
      case "start":
        started = true;
        break;
      case "start-step":
        steps++;
        attempts = 1;
        stepFinished = false;
        clear();
        break;
      case "reset-step":
        attempts++;
        stepFinished = false;
        clear();
        break;
      case "finish-step":
        stepFinished = true;
        break;
      case "text-start":
        openTexts.set(`text ${chunk.id}`, { type: "text", id: chunk.id });
        break;
      case "reasoning-start":
        openTexts.set(`reasoning ${chunk.id}`, { type: "reasoning", id: chunk.id });
        break;
      case "text-end":
        openTexts.delete(`text ${chunk.id}`);
        break;
      case "reasoning-end":
        openTexts.delete(`reasoning ${chunk.id}`);
        break;
      case "tool-input-start":
        openInputs.set(chunk.toolCallId, chunk);
        break;
      case "tool-input-available":
        openInputs.delete(chunk.toolCallId);
        openCalls.set(chunk.toolCallId, chunk);
        break;
      case "tool-input-error":
        openInputs.delete(chunk.toolCallId);
        break;
      case "tool-output-available":
      case "tool-output-error":
        openCalls.delete(chunk.toolCallId);
        outputs.add(chunk.toolCallId);
        break;
    }
  }
  return {
    started,
    steps,
    attempts,
    stepFinished,
    outputs,
    openTexts: [...openTexts.values()],
    openInputs: [...openInputs.values()],
    openCalls: [...openCalls.values()],
  };
}

/** Returns the chunks that close open parts, which makes the message of a cut turn valid. */
export function closeOpenParts(progress: StreamProgress, reason: string): UIMessageChunk[] {
  return [
    ...progress.openTexts.map(({ type, id }) => ({ type: `${type}-end` as const, id })),
    ...progress.openInputs.map(({ toolCallId, toolName }) => ({
      type: "tool-input-error" as const,
      toolCallId,
      toolName,
      input: {},
      errorText: reason,
    })),
    ...progress.openCalls.map(({ toolCallId }) => ({
      type: "tool-output-error" as const,
      toolCallId,
      errorText: reason,
    })),
    ...(progress.stepFinished ? [] : [{ type: "finish-step" as const }]),
  ];
}
