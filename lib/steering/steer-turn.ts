/**
 * Steering: a running turn takes messages from the queue between two of its model calls. Taking them is one
 * transaction, so each is either in the queue, where it starts a turn, or belongs to one running turn.
 */

import type { SteeringMessage } from "@platform/agent/conversation";
import { type FileParts, prepareFiles, recordSources } from "../running-turn/message-files.ts";
import type { ActiveTurn } from "../running-turn/state.ts";
import { hasFiles } from "../running-turn/store-files.ts";
import type { LoadedTurnKey } from "../running-turn/turn-key.ts";
import { storeSteeringFiles, takeSteeringMessages } from "./store.ts";

/**
 * Takes the messages that steer the turn, before its model call `step`, with their files. Returns also all
 * untrusted content of the turn.
 */
export async function steerTurn(
  app: FileParts,
  key: LoadedTurnKey,
  turn: ActiveTurn,
  step: number,
  signal: AbortSignal,
): Promise<{ taken: readonly SteeringMessage[]; untrusted: ActiveTurn["untrusted"] }> {
  const messages = await takeSteeringMessages(app.db, key, step);
  const untrusted = await recordSources(app.db, turn, key.turnId, messages);
  return { taken: await withSteeringFiles(app, key.turnId, turn, messages, signal), untrusted };
}

/** Stores the files of the messages in the sandbox, and returns the messages also as the model gets them. */
export async function withSteeringFiles(
  app: FileParts,
  turnId: string,
  turn: ActiveTurn,
  steering: SteeringMessage[],
  signal: AbortSignal,
): Promise<SteeringMessage[]> {
  if (!hasFiles(steering)) return steering;
  const messages = steering.map(({ id, parts }) => ({ id, role: "user" as const, parts }));
  const { history, shown } = await prepareFiles(app, turn, messages, signal, (changed) =>
    storeSteeringFiles(app.db, turnId, changed),
  );
  return steering.map((one, place) => ({
    ...one,
    // Files of a user's message stay files.
    parts: (history[place]?.parts ?? one.parts) as SteeringMessage["parts"],
    shown: shown[place]?.parts ?? one.parts,
  }));
}
