/**
 * Steering: a running turn takes messages from the queue between two of its model calls. Taking them is one
 * transaction, so each is either in the queue, where it starts a turn, or belongs to one running turn.
 */
import type { SteeringMessage } from "../agent/conversation.ts";
import { fileDownloader } from "../agent/download-file.ts";
import { showFiles } from "../agent/show-files.ts";
import { hasFiles, landFiles } from "./land-files.ts";
import { type PdfParts, pdfInputFor } from "./pdf-input.ts";
import type { LoadedTurnKey } from "./store/model-calls.ts";
import { type ActiveTurn, storeSteeringFiles, takeSteeringMessages } from "./store/turns.ts";
import { openSandbox } from "./turn-sandbox.ts";

/** Takes the messages that steer the turn, before its model call `step`, with their files. */
export async function steerTurn(
  app: PdfParts,
  key: LoadedTurnKey,
  turn: ActiveTurn,
  step: number,
  signal: AbortSignal,
): Promise<readonly SteeringMessage[]> {
  const taken = await takeSteeringMessages(key, step);
  return withSteeringFiles(app, key.turnId, turn, taken, signal);
}

/** Stores the files of the messages in the sandbox, and returns the messages also as the model gets them. */
export async function withSteeringFiles(
  app: PdfParts,
  turnId: string,
  turn: ActiveTurn,
  steering: SteeringMessage[],
  signal: AbortSignal,
): Promise<SteeringMessage[]> {
  if (!hasFiles(steering)) return steering;
  const messages = steering.map(({ id, parts }) => ({ id, role: "user" as const, parts }));
  const sandbox = openSandbox(app, turn);
  const fetchFile = fileDownloader(signal, turn.options.network_policies);
  const { history, changed } = await landFiles(messages, sandbox, fetchFile, signal);
  if (changed.length > 0) await storeSteeringFiles(turnId, changed);
  const pdf = await pdfInputFor(app, turn, history, signal);
  const shown = await showFiles(history, sandbox, pdf);
  return steering.map((one, place) => ({
    ...one,
    // Files of a user's message stay files.
    parts: (history[place]?.parts ?? one.parts) as SteeringMessage["parts"],
    shown: shown[place]?.parts ?? one.parts,
  }));
}
