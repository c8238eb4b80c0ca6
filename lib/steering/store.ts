/** The queries of messages that steer a turn. */

import type { SteeringMessage } from "@platform/agent/conversation";
import type { UIMessage } from "ai";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { stored } from "../running-turn/state.ts";
import type { LoadedTurnKey } from "../running-turn/turn-key.ts";
/**
 * Takes the messages that wait to steer the turn, before the model call `step`. A turn that was stopped or
 * loaded by another process takes none.
 */
export function takeSteeringMessages(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  step: number,
): Promise<SteeringMessage[]> {
  const args = { accountId, turnId, load, step };
  return call(db, "take_steering_messages", args, z.array(stored<SteeringMessage>()));
}

/** Replaces the parts of messages that the turn has taken, whose files are in the sandbox now. */
export async function storeSteeringFiles(
  db: Database,
  turnId: string,
  messages: readonly UIMessage[],
): Promise<void> {
  const changed = messages.map(({ id, parts }) => ({ id, parts }));
  await call(db, "store_steering_files", { turnId, messages: changed });
}
