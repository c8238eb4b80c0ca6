/** The sessions of an account with their chats and sandboxes, as entries of an archive. */
import { isAppError } from "../contract/app-error.ts";
import { everyItem } from "../contract/pagination.ts";
import type { ZipEntry } from "../platform/zip.ts";
import { folderEntries } from "../sandbox/archive-folder.ts";
import type { FilesRequest } from "../sandbox/with-sandbox-files.ts";
import { exportBranches } from "../sessions/branches.ts";
import type { Session } from "../sessions/session.ts";
import { selectChatBody, selectChats, selectSessions } from "../sessions/store.ts";

export type ExportRequest = Omit<FilesRequest, "sessionId">;

/** @param missing takes the names of folders that cannot be read */
export async function* sessionEntries(
  request: ExportRequest,
  missing: string[],
): AsyncGenerator<ZipEntry> {
  const sessions = everyItem((page) => selectSessions(request.accountId, page));
  for await (const session of sessions) {
    const folder = `sessions/${session.id}`;
    const modifiedAt = new Date(session.updatedAt);
    const content = JSON.stringify(session, null, 2);
    yield { name: `${folder}/session.json`, modifiedAt, content };
    yield* chatEntries(request.accountId, session.id, folder);
    yield* fileEntries(request, session, `${folder}/files`, missing);
  }
}

async function* chatEntries(
  accountId: string,
  sessionId: string,
  folder: string,
): AsyncGenerator<ZipEntry> {
  const chats = everyItem(async (page) => {
    const found = await selectChats(accountId, sessionId, page);
    // A session that was deleted in the meantime has no chats.
    return isAppError(found) ? { items: [], nextCursor: null } : found;
  });
  for await (const { id, updatedAt } of chats) {
    const content = await selectChatBody({ accountId, sessionId, chatId: id });
    if (isAppError(content)) continue;
    const modifiedAt = new Date(updatedAt);
    yield { name: `${folder}/chats/${id}.json`, modifiedAt, content };
    const more = await exportBranches(accountId, id);
    const choices = Object.keys(more.choices ?? {});
    if (more.messages.length + more.feedback.length + choices.length > 0) {
      const name = `${folder}/chats/${id}.branches.json`;
      yield { name, modifiedAt, content: JSON.stringify(more, null, 2) };
    }
  }
}

async function* fileEntries(
  { accountId, log }: ExportRequest,
  { id: sessionId, sandboxState }: Session,
  folder: string,
  missing: string[],
): AsyncGenerator<ZipEntry> {
  if (sandboxState === "none") return;
  const entries = await folderEntries({ accountId, sessionId, log });
  if (isAppError(entries)) {
    // A sandbox that has expired has no files left.
    if (entries.code !== "sandbox_missing") missing.push(folder);
    return;
  }
  for await (const entry of entries) yield { ...entry, name: `${folder}/${entry.name}` };
}
