import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Logger } from "pino";
import { endUnusedSubscriptions } from "../connectors/use-connectors.ts";
import { dueRemovals, endRemoval } from "../content/removals.ts";
import type { Parts } from "../parts.ts";
import { deleteSession } from "../sessions/delete-session.ts";
import { selectSessions } from "../sessions/store.ts";
import { deleteAccountRows, leaveOrganizations, removeAccount } from "./store.ts";

const BATCH = 100;

/**
 * Deletes a person's account with everything that it owns. The account exists until the last step, so the
 * request can be repeated after a crash. The last step also records the files that it leaves outside the
 * database, and the retention job removes them if this request does not.
 * @param confirm the account's e-mail address
 * Errors: 400, 403 for accounts of other kinds, 409 for the last owner of an organization.
 */
export async function deleteAccount(
  app: Parts<"db" | "connectors" | "engine" | "mediaStorage" | "sandboxes">,
  accountId: string,
  confirm: string,
  log: Logger,
): Promise<AppError | undefined> {
  const refused = await leaveOrganizations(app.db, accountId, confirm);
  if (refused) return refused;
  // Most rows, in short transactions: in one, they would take longer than a statement may.
  while (await deleteAccountRows(app.db, accountId));
  await deleteSessions(app, accountId, log);
  const kept = await removeAccount(app.db, accountId, confirm);
  if (kept) return kept;
  await endUnusedSubscriptions(app, accountId, log);
  await removeMedia(app, accountId).catch((error: unknown) =>
    log.warn({ err: error }, "media of a deleted account are left to the retention job"),
  );
  return undefined;
}

/** Stops the runs and sandboxes of the other sessions. One that cannot be stopped now goes with the account. */
async function deleteSessions(
  app: Parts<"db" | "engine" | "sandboxes">,
  accountId: string,
  log: Logger,
): Promise<void> {
  for (let deleted = 1; deleted > 0; ) {
    deleted = 0;
    const { items: sessions } = await selectSessions(app.db, accountId, { limit: BATCH });
    for (const { id } of sessions) {
      const failure = await deleteSession(app, { accountId, sessionId: id, log });
      if (!isAppError(failure)) deleted += 1;
    }
  }
}

async function removeMedia(
  { db, mediaStorage }: Parts<"db" | "mediaStorage">,
  accountId: string,
): Promise<void> {
  const next = () => dueRemovals(db, "media", BATCH, accountId);
  for (let due = await next(); due.length > 0; due = await next()) {
    for (const removal of due) {
      await mediaStorage.remove({ accountId, name: removal.name });
      await endRemoval(db, "media", removal);
    }
  }
}
