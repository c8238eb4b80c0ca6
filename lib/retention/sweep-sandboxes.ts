/** Sandboxes of sessions that are gone. */

import { log } from "../platform/log.ts";
import { services } from "../platform/services.ts";
import { settleSandboxBytes } from "../sandbox/account-space.ts";
import { clearSandbox } from "../sandbox/clear-sandbox.ts";
import { destroySandbox } from "../sandbox/destroy-sandbox.ts";
import {
  dueSandboxRemovals,
  installationId,
  settleSandboxRemoval,
  staleSandboxReservations,
  unownedSandboxes,
} from "./store.ts";

const BATCH = 200;
const MAX_BATCHES = 20;
const GRACE_MS = 60 * 60 * 1000;

/** Destroys the sandboxes of sessions that were deleted. Returns how many. */
export async function destroyDeletedSandboxes(): Promise<number> {
  let destroyed = 0;
  for (const { sessionId, ...state } of await dueSandboxRemovals(BATCH)) {
    // One that cannot be destroyed now is tried again by the next run.
    if (await destroySandbox(state, log())) continue;
    await settleSandboxRemoval(sessionId);
    destroyed += 1;
  }
  return destroyed;
}

/** Measures sandboxes whose jail ended without a word, as in a crash. Returns how many. */
export async function measureLostSandboxes(): Promise<number> {
  const kept = services().sandboxes.kept;
  if (!kept) return 0;
  let measured = 0;
  for (const { sessionId, reservedAt } of await staleSandboxReservations(BATCH)) {
    const bytes = await kept.bytesOf(sessionId);
    // One of another machine's.
    if (bytes === null) continue;
    await settleSandboxBytes(sessionId, reservedAt, bytes);
    measured += 1;
  }
  return measured;
}

/**
 * Deletes folders of this machine whose session does not exist, as a crash during provisioning
 * leaves one. Returns how many; none when the folders belong to another database.
 */
export async function destroyUnownedSandboxes(): Promise<number> {
  const kept = services().sandboxes.kept;
  if (!kept) return 0;
  if (!(await kept.belongsTo(await installationId()))) {
    log().warn("the local sandboxes belong to another database and are left alone");
    return 0;
  }
  const names = await kept.namesOlderThan(GRACE_MS);
  let destroyed = 0;
  for (let at = 0; at < Math.min(names.length, BATCH * MAX_BATCHES); at += BATCH) {
    for (const sessionId of await unownedSandboxes(names.slice(at, at + BATCH))) {
      await clearSandbox(sessionId, log());
      destroyed += 1;
    }
  }
  return destroyed;
}
