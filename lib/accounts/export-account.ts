import { Readable } from "node:stream";
import { isAppError } from "@platform/endpoint/contract/app-error";
import { everyItem } from "@platform/endpoint/contract/pagination";
import type { ZipEntry } from "@platform/kit/zip";
import { contentOf } from "@platform/skills/skill";
import { z } from "zod";
import { selectApprovals } from "../approvals/store.ts";
import type { Artist } from "../artists/artist.ts";
import { selectArtists } from "../artists/store.ts";
import { openMedia } from "../content/open-media.ts";
import { selectAddresses, selectDeliveries } from "../delivery/store.ts";
import { listKeys } from "../identity/keys/keys.ts";
import { selectServers } from "../mcp-servers/store.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { selectRequests } from "../requests/store.ts";
import { folderEntries } from "../sandbox/archive-folder.ts";
import type { SandboxRequest } from "../sandbox/get-sandbox.ts";
import { exportBranches } from "../sessions/branches.ts";
import type { Session } from "../sessions/session.ts";
import { selectShares } from "../sessions/shares/store.ts";
import { selectChatBody, selectChats, selectSessions } from "../sessions/store.ts";
import { selectSkill, selectSkills } from "../skills/store.ts";
import { selectTasks } from "../tasks/store.ts";
import { storedTemplate } from "../templates/store.ts";
import type { Trigger } from "../triggers/contract.ts";
import { selectTriggers } from "../triggers/store.ts";
import { selectWebhooks } from "../webhooks/store.ts";
import { selectFiles, type WorkspacePlace } from "../workspace/store.ts";
import { openWorkspaceFile } from "../workspace/workspace-files.ts";
import { exportRows, selectAccount } from "./store.ts";

type Needs = Parts<"db" | "connectors" | "contentStorage" | "mediaStorage" | "sandboxes">;

const row = z.record(z.string(), z.unknown());

/**
 * Yields everything that an account owns as entries of an archive: JSON, and the files of its media and
 * its sandboxes. Each part is read when the reader gets to it. `missing.json`, the last entry, names what
 * could not be read, such as a sandbox whose provider fails; the iterator fails when the database does.
 */
export async function* exportAccount(app: Needs, request: ExportRequest): AsyncGenerator<ZipEntry> {
  const { accountId } = request;
  const modifiedAt = new Date();
  const missing: string[] = [];
  const json = (name: string, content: unknown): ZipEntry => ({
    name,
    modifiedAt,
    content: JSON.stringify(content, null, 2),
  });
  const list = (name: string, items: AsyncIterable<unknown>): ZipEntry => ({
    name,
    modifiedAt,
    content: jsonList(items),
  });

  yield json("account.json", await selectAccount(app.db, accountId));
  yield json("api-keys.json", await listKeys(app.db, accountId));
  yield list("artists.json", ownArtists(app.db, accountId));
  yield list("agent-templates.json", exportRows(app.db, accountId, "templates", storedTemplate));
  yield list(
    "agent-template-versions.json",
    exportRows(app.db, accountId, "template_versions", row),
  );
  yield list("runs.json", exportRows(app.db, accountId, "turns", row));
  yield list("task-runs.json", exportRows(app.db, accountId, "task_runs", row));
  // Webhooks and MCP servers come without their secrets.
  const lists = {
    tasks: selectTasks,
    approvals: selectApprovals,
    shares: selectShares,
    webhooks: selectWebhooks,
    "mcp-servers": selectServers,
    deliveries: selectDeliveries,
    "delivery-addresses": selectAddresses,
    requests: selectRequests,
  };
  for (const [name, select] of Object.entries(lists)) {
    yield list(
      `${name}.json`,
      everyItem<unknown>((page) => select(app.db, accountId, page)),
    );
  }
  yield list("triggers.json", ownTriggers(app.db, accountId));
  const listed = await app.connectors?.list(accountId);
  if (listed?.kind === "listed") yield json("connections.json", listed.connections);
  else if (listed) missing.push("connections.json");

  for await (const name of exportRows(app.db, accountId, "media", z.string())) {
    const content = await openMedia(app, { accountId, name });
    if (content) yield { name: `media/${name}`, modifiedAt, content };
    else missing.push(`media/${name}`);
  }
  yield* skillEntries(app.db, accountId, modifiedAt);
  yield* workspaceEntries(app, { accountId, artistId: null }, "workspace");
  for await (const { account_id: artistId } of ownArtists(app.db, accountId)) {
    yield* workspaceEntries(app, { accountId, artistId }, `artists/${artistId}/workspace`);
  }
  yield* sessionEntries(app, request, missing);
  if (missing.length > 0) yield json("missing.json", missing);
}

/** Yields the newest versions of the files. */
async function* workspaceEntries(
  app: Needs,
  place: WorkspacePlace,
  folder: string,
): AsyncGenerator<ZipEntry> {
  for await (const file of everyItem((page) => selectFiles(app.db, place, undefined, page))) {
    const content = await openWorkspaceFile(app, place, file.path, file.version);
    // A file that was deleted in the meantime is left out.
    if (isAppError(content)) continue;
    yield { name: `${folder}/${file.path}`, modifiedAt: new Date(file.created_at), content };
  }
}

async function* ownArtists(db: Database, accountId: string): AsyncGenerator<Artist> {
  for await (const artist of everyItem((page) => selectArtists(db, accountId, undefined, page))) {
    if (artist.organization_id === null) yield artist;
  }
}

/** The triggers of the account's tasks, without their secrets. */
async function* ownTriggers(db: Database, accountId: string): AsyncGenerator<Trigger> {
  const none = { items: [], nextCursor: null };
  for await (const { id } of everyItem((page) => selectTasks(db, accountId, page))) {
    yield* everyItem<Trigger>(async (page) => {
      const found = await selectTriggers(db, accountId, id, page);
      return isAppError(found) ? none : found;
    });
  }
}

/** The current versions of the account's own skills. */
async function* skillEntries(
  db: Database,
  accountId: string,
  modifiedAt: Date,
): AsyncGenerator<ZipEntry> {
  const owner = { accountId, organizationId: undefined };
  const { skills } = await selectSkills(db, owner);
  for (const { name } of skills.filter(({ source }) => source === "account")) {
    const found = await selectSkill(db, owner, name);
    for (const file of isAppError(found) ? [] : found.files) {
      const content = Readable.from([Buffer.from(contentOf(file))]);
      yield { name: `skills/${name}/${file.path}`, modifiedAt, content };
    }
  }
}

async function* jsonList(items: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let separator = "[\n";
  for await (const item of items) {
    yield encoder.encode(separator + JSON.stringify(item));
    separator = ",\n";
  }
  yield encoder.encode(separator === "[\n" ? "[]\n" : "\n]\n");
}

export type ExportRequest = Omit<SandboxRequest, "sessionId">;

/** @param missing takes the names of folders that cannot be read */
async function* sessionEntries(
  app: Needs,
  request: ExportRequest,
  missing: string[],
): AsyncGenerator<ZipEntry> {
  const sessions = everyItem((page) => selectSessions(app.db, request.accountId, page));
  for await (const session of sessions) {
    const folder = `sessions/${session.id}`;
    const modifiedAt = new Date(session.updatedAt);
    const content = JSON.stringify(session, null, 2);
    yield { name: `${folder}/session.json`, modifiedAt, content };
    yield* chatEntries(app.db, request.accountId, session.id, folder);
    yield* fileEntries(app, request, session, `${folder}/files`, missing);
  }
}

async function* chatEntries(
  db: Database,
  accountId: string,
  sessionId: string,
  folder: string,
): AsyncGenerator<ZipEntry> {
  const chats = everyItem(async (page) => {
    const found = await selectChats(db, accountId, sessionId, page);
    // A session that was deleted in the meantime has no chats.
    return isAppError(found) ? { items: [], nextCursor: null } : found;
  });
  for await (const { id, updatedAt } of chats) {
    const content = await selectChatBody(db, { accountId, sessionId, chatId: id });
    if (isAppError(content)) continue;
    const modifiedAt = new Date(updatedAt);
    yield { name: `${folder}/chats/${id}.json`, modifiedAt, content };
    const more = await exportBranches(db, accountId, id);
    const choices = Object.keys(more.choices ?? {});
    if (more.messages.length + more.feedback.length + choices.length > 0) {
      const name = `${folder}/chats/${id}.branches.json`;
      yield { name, modifiedAt, content: JSON.stringify(more, null, 2) };
    }
  }
}

async function* fileEntries(
  app: Parts<"db" | "sandboxes">,
  { accountId, log }: ExportRequest,
  { id: sessionId, sandboxState }: Session,
  folder: string,
  missing: string[],
): AsyncGenerator<ZipEntry> {
  if (sandboxState === "none") return;
  const entries = await folderEntries(app, { accountId, sessionId, log });
  if (isAppError(entries)) {
    // A sandbox that has expired has no files left.
    if (entries.code !== "sandbox_missing") missing.push(folder);
    return;
  }
  for await (const entry of entries) yield { ...entry, name: `${folder}/${entry.name}` };
}
