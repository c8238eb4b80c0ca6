import { getStaticToolName, isStaticToolUIPart, type UIMessage, type UIMessageChunk } from "ai";
import type { TurnAddress } from "../engine/port.ts";
import type { Parts } from "../parts.ts";
import type { Run } from "../running-turn/run.ts";
import { lastChunks } from "./finish-stream.ts";
import { assistantParts, type ClaimOutcome } from "./store/claims.ts";
import type { StreamedTurn } from "./stream-turn.ts";

const READ_TIMEOUT_MS = 5_000;

/**
 * Returns a turn to stream from any of its chunks, whether it runs or has ended. Returns null if its log
 * is no longer retained.
 */
export async function replayTurn(
  { engine }: Parts<"engine">,
  turnId: string,
  { runId, status, error }: Pick<Run, "runId" | "status" | "error">,
): Promise<StreamedTurn | null> {
  // A turn whose end is stored may still be writing its last chunks.
  if ((await engine.runState(runId)) === "running") return { turnId, runId };
  const { chunks, isWhole } = await readWholeLog({ engine }, { turnId, runId });
  // A log that could not be read in time is streamed as it comes, and never ended here.
  if (!isWhole && chunks.length > 0) return { turnId, runId };
  const last: UIMessageChunk | null = JSON.parse(chunks.at(-1) ?? "null");
  if (last === null) return null;
  // The log of a run that was lost lacks its end, which the database has.
  if (last.type !== "finish") {
    const finishReason = status === "cancelled" ? "interrupted" : "error";
    for (const chunk of lastChunks(error, null)) {
      chunks.push(JSON.stringify(chunk.type === "finish" ? { ...chunk, finishReason } : chunk));
    }
  }
  return { runId, chunks };
}

/** Returns the committed chunks of a turn whose run has ended, and whether all of them were read in time. */
export async function readWholeLog(
  { engine }: Parts<"engine">,
  turn: TurnAddress,
): Promise<{ chunks: string[]; isWhole: boolean }> {
  const chunks: string[] = [];
  const batches = engine.read(turn, 0, AbortSignal.timeout(READ_TIMEOUT_MS));
  for (;;) {
    const { value, done } = await batches.next();
    if (done) return { chunks, isWhole: value === "ended" };
    // One by one: a long turn has more chunks than a call can have arguments.
    for (const chunk of value.chunks) chunks.push(chunk);
  }
}

/** Returns the stored answer to a message, as the stream of its turn if the log is retained. */
export async function replayAnswer(
  app: Parts<"db" | "engine">,
  accountId: string,
  chatId: string,
  answer: Extract<ClaimOutcome, { outcome: "answered" }>,
): Promise<StreamedTurn> {
  const { turn_id: turnId, run_id: runId, message_id: messageId } = answer;
  if (turnId !== null && runId !== null) {
    const replayed = await replayTurn(app, turnId, { runId, status: "completed", error: null });
    if (replayed !== null) return replayed;
  }
  const parts = (await assistantParts(app.db, accountId, chatId, messageId)) ?? [];
  const chunks: UIMessageChunk[] = [
    { type: "start", messageId },
    ...parts.flatMap(toChunks),
    ...lastChunks(null, null),
  ];
  return { runId, chunks: chunks.map((chunk) => JSON.stringify(chunk)) };
}

/** Returns the chunks from which a client assembles the part. Clients ignore the end of a step. */
function toChunks(part: UIMessage["parts"][number], place: number): UIMessageChunk[] {
  const id = String(place);
  if (part.type === "step-start") return [{ type: "start-step" }];
  if (part.type === "text" || part.type === "reasoning") {
    const { type, text, providerMetadata } = part;
    const metadata = providerMetadata && { providerMetadata };
    return [
      { type: `${type}-start`, id, ...metadata },
      { type: `${type}-delta`, id, delta: text },
      { type: `${type}-end`, id, ...metadata },
    ];
  }
  if (!isStaticToolUIPart(part)) return [part as UIMessageChunk];
  const { toolCallId, input } = part;
  const toolName = getStaticToolName(part);
  const called: UIMessageChunk = { type: "tool-input-available", toolCallId, toolName, input };
  if (part.state === "output-available") {
    return [called, { type: "tool-output-available", toolCallId, output: part.output }];
  }
  if (part.state === "output-error") {
    return [called, { type: "tool-output-error", toolCallId, errorText: part.errorText }];
  }
  return [called];
}
