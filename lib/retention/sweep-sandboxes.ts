import { isAppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import { dueRemovals, endRemoval } from "../content/removals.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { clearSandbox, destroySandbox } from "../sandbox/destroy-sandbox.ts";
import { recordSandboxBytes } from "../sandbox/store.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";
import { stopSandbox } from "../sessions/stop-sandbox.ts";
import {
  idleSandboxes,
  installationId,
  staleSandboxReservations,
  unownedSandboxes,
} from "./store.ts";

const BATCH = 200;
const MAX_BATCHES = 20;
/** Longer than provisioning takes. */
const GRACE_MS = 60 * 60 * 1000;

/** Destroys the sandboxes of deleted sessions, and returns their number. */
export async function destroyDeletedSandboxes(app: Parts<"db" | "sandboxes">): Promise<number> {
  let destroyed = 0;
  for (const removal of await dueRemovals(app.db, "sandbox", BATCH)) {
    // The next run of the job retries a sandbox that cannot be destroyed now.
    if (await destroySandbox(app, storedSandbox.parse(removal.state), log())) continue;
    await endRemoval(app.db, "sandbox", removal);
    destroyed += 1;
  }
  return destroyed;
}

/**
 * Destroys the sandboxes of this machine whose sessions have had no turn for a while, and returns their
 * number.
 */
export async function destroyIdleSandboxes(
  app: Parts<"db" | "engine" | "sandboxes">,
  days = config().SANDBOX_RETENTION_DAYS,
): Promise<number> {
  const provider = app.sandboxes;
  if (days === 0 || !provider.folders) return 0;
  let destroyed = 0;
  for (const { sessionId, accountId, ...state } of await idleSandboxes(app.db, days, BATCH)) {
    if ((await provider.status(state)) !== "active") continue;
    const outcome = await stopSandbox(app, { accountId, sessionId, log: log() });
    if (!isAppError(outcome)) destroyed += 1;
  }
  return destroyed;
}

/** Measures sandboxes whose jail ended unnoticed, as in a crash, and returns their number. */
export async function measureLostSandboxes(app: Parts<"db" | "sandboxes">): Promise<number> {
  const { folders } = app.sandboxes;
  if (!folders) return 0;
  let measured = 0;
  for (const { sessionId, reservedAt } of await staleSandboxReservations(app.db, BATCH)) {
    const bytes = await folders.bytesOf(sessionId);
    // The sandbox is on another machine.
    if (bytes === null) continue;
    await recordSandboxBytes(app.db, sessionId, reservedAt, bytes);
    measured += 1;
  }
  return measured;
}

/**
 * Deletes folders of this machine whose session does not exist, as after a crash during
 * provisioning, and returns their number. Folders of another database are left alone.
 */
export async function destroyUnownedSandboxes(app: Parts<"db" | "sandboxes">): Promise<number> {
  const { folders } = app.sandboxes;
  if (!folders) return 0;
  if (!(await folders.belongsTo(await installationId(app.db)))) {
    log().warn("the local sandboxes belong to another database and are left alone");
    return 0;
  }
  const names = await folders.namesOlderThan(GRACE_MS);
  let destroyed = 0;
  for (let at = 0; at < Math.min(names.length, BATCH * MAX_BATCHES); at += BATCH) {
    for (const sessionId of await unownedSandboxes(app.db, names.slice(at, at + BATCH))) {
      await clearSandbox(app, sessionId, log());
      destroyed += 1;
    }
  }
  return destroyed;
}
