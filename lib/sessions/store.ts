/**
 * The queries of sessions, chats and messages. The tenant is an argument of every function, and the
 * row of another account counts as missing. Every function here throws DatabaseUnavailable.
 * This file is long because it has all of these queries.
 */

import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import {
  type ChatAddress,
  chatArguments,
  chatErrors,
} from "@platform/endpoint/contract/chat-address";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { optionsIn, type RunOptions } from "@platform/endpoint/contract/run-options";
import { plainText } from "@platform/kit/plain-text";
import { streamOf } from "@platform/kit/stream-of";
import type { SandboxState } from "@platform/sandbox/port";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { statusOfStored, storedSandbox } from "../sandbox/stored-sandbox.ts";
import type { ChatQuery } from "./chats-contract.ts";
import type { ChatChanges, NewChat, NewSession } from "./contract.ts";
import { type Chat, chat, type FoundChat, foundChat, type Session, session } from "./session.ts";

/** A session together with the state of its sandbox, which callers do not see. */
export interface StoredSession {
  readonly session: Session;
  readonly sandbox: SandboxState | null;
}

const storedSession = rowOf(session.extend({ sandboxState: storedSandbox.nullable() })).transform(
  ({ sandboxState, ...row }): StoredSession => ({
    session: { ...row, sandboxState: statusOfStored(sandboxState) },
    sandbox: sandboxState,
  }),
);
const storedChat = rowOf(chat);
const storedFoundChat = rowOf(foundChat).transform((found) => {
  const { snippet, title } = found;
  return snippet === undefined || snippet === title
    ? found
    : { ...found, snippet: plainText(snippet) };
});

const missing = refusalOf(
  {
    ...chatErrors,
    template: appError("not_found", "Template not found"),
    template_version: appError("not_found", "Template version not found"),
  },
  "missing",
);
const foundSession = z.object({ session: storedSession }).transform((answer) => answer.session);
const oneChat = z.object({ chat: storedChat }).transform((answer) => answer.chat);

/** The answer of a function that creates a session and its first chat. */
export const createdSession = z
  .object({ session: storedSession, chat: storedChat })
  .transform(({ session: stored, chat }) => ({ session: stored.session, chat }));

/** Inserts a session and its first chat. The pipeline has checked the access to artist and organization. */
export function insertSession(
  db: Database,
  accountId: string,
  values: Pick<NewSession, "title" | "artistId" | "organization_id"> & {
    readonly options?: RunOptions | undefined;
  },
  modelId: string,
): Promise<{ session: Session; chat: Chat }> {
  const args = {
    accountId,
    organizationId: values.organization_id ?? null,
    artistId: values.artistId ?? null,
    title: values.title ?? "",
    modelId,
    options: values.options ?? {},
  };
  return call(db, "create_session", args, createdSession);
}

const listedSession = storedSession.transform((row) => row.session);

export function selectSessions(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<Session>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_sessions", args, pageOf(listedSession, page));
}

const sessionArguments = (accountId: string, sessionId: string) => ({ accountId, sessionId });

export const selectSession = (db: Database, accountId: string, sessionId: string) =>
  call(db, "get_session", sessionArguments(accountId, sessionId), z.union([foundSession, missing]));

export const updateSessionTitle = (
  db: Database,
  accountId: string,
  sessionId: string,
  title: string,
) =>
  call(
    db,
    "update_session",
    { ...sessionArguments(accountId, sessionId), title },
    z.union([foundSession, missing]),
  );

/** Returns the deleted row, which names a sandbox that was provisioned at the last moment. */
export const removeSession = (db: Database, accountId: string, sessionId: string) =>
  call(
    db,
    "delete_session",
    sessionArguments(accountId, sessionId),
    z.union([foundSession, missing]),
  );

const conflict = z
  .object({ conflict: z.literal(true) })
  .transform(() => appError("conflict", "A chat with this id exists in another session"));

/** Returns the existing chat when the session has one with this id. Errors: 404, 409. */
export function insertChat(
  db: Database,
  { accountId, sessionId }: Omit<ChatAddress, "chatId">,
  values: NewChat,
  defaultModelId: string,
): Promise<Chat | AppError> {
  const args = {
    ...sessionArguments(accountId, sessionId),
    chatId: values.id ?? null,
    title: values.title ?? "",
    modelId: values.modelId ?? null,
    instructions: values.instructions ?? null,
    templateId: values.templateId ?? null,
    templateVersion: values.template_version ?? null,
    options: optionsIn(values),
    defaultModelId,
  };
  return call(db, "create_chat", args, z.union([oneChat, missing, conflict]));
}

export function selectChats(
  db: Database,
  accountId: string,
  sessionId: string,
  page: PageRequest,
): Promise<Page<Chat> | AppError> {
  return call(
    db,
    "list_chats",
    { ...sessionArguments(accountId, sessionId), ...pageArguments(page) },
    z.union([pageOf(storedChat, page), missing]),
  );
}

export function selectAccountChats(
  db: Database,
  accountId: string,
  { q, artist_id, archived, pinned, pinned_first, waiting, ...page }: ChatQuery,
): Promise<Page<FoundChat>> {
  return call(
    db,
    "list_account_chats",
    {
      accountId,
      ...pageArguments(page),
      artistId: artist_id ?? null,
      archived: archived ?? null,
      pinned: pinned ?? null,
      text: q ?? null,
      waiting: waiting ?? false,
      pinnedFirst: pinned_first ?? false,
    },
    pageOf(storedFoundChat, page),
  );
}

export const selectChat = (db: Database, address: ChatAddress): Promise<Chat | AppError> =>
  call(db, "get_chat", chatArguments(address), z.union([oneChat, missing]));

/** Of messages: a page has at least one, which may be larger. */
const CHAT_PAGE_BYTES = 512 * 1024;

/**
 * Returns the response body as JSON text. It is read page by page as the reader takes it: a slow reader holds
 * one page and no connection. A message that is stored in the meantime may be in a later page.
 * @param more further fields of the body
 */
export async function selectChatBody(
  db: Database,
  address: ChatAddress,
  more: object = {},
): Promise<ReadableStream<Uint8Array> | AppError> {
  const args = chatArguments(address);
  const first = await chatPage(db, args);
  if (first) {
    const { chat, messages } = first;
    const fields = JSON.stringify({ ...more, chat, isStreaming: chat.activeStreamId !== null });
    const start = `${fields.slice(0, -1)},"messages":[`;
    return streamOf(chatPages(db, args, { ...first, messages: start + messages }));
  }
  const found = await selectChat(db, address);
  return isAppError(found) ? found : appError("not_found", "Chat not found");
}

type ChatArguments = ReturnType<typeof chatArguments>;

const messageHead = z.object({ id: z.string(), role: z.string(), created_at: z.string() });

interface ChatPage {
  readonly chat: Chat;
  readonly messages: string;
  /** The last message, when others follow. */
  readonly last: z.output<typeof messageHead> | undefined;
}

/** Null when the chat is missing. */
async function chatPage(
  db: Database,
  args: ChatArguments,
  after?: ChatPage["last"],
): Promise<ChatPage | null> {
  const [head, ...texts] = await call(
    db,
    "get_chat_body_page",
    {
      ...args,
      afterAt: after?.created_at ?? null,
      afterId: after?.id ?? null,
      maxBytes: CHAT_PAGE_BYTES,
    },
    z.array(z.string()),
  );
  if (head === undefined) return null;
  const hasMore = texts.at(-1) === "more";
  const messages = (hasMore ? texts.slice(0, -1) : texts).map(readMessage);
  return {
    chat: storedChat.parse(JSON.parse(head)),
    messages: messages.map(({ text }) => text).join(","),
    last: hasMore ? messages.at(-1)?.head : undefined,
  };
}

/** Returns the message as JSON text. Its parts and metadata, which may be long, are not parsed. */
function readMessage(lines: string) {
  const end = lines.indexOf("\n");
  const head = messageHead.parse(JSON.parse(lines.slice(0, end)));
  const createdAt = new Date(head.created_at).toISOString();
  const fields = JSON.stringify({ id: head.id, role: head.role, createdAt }).slice(0, -1);
  const rest = lines.slice(end + 1).replace("\n", ',"metadata":');
  return { head, text: `${fields},"parts":${rest}}` };
}

async function* chatPages(
  db: Database,
  args: ChatArguments,
  first: ChatPage,
): AsyncGenerator<string> {
  let page: ChatPage | null = first;
  for (let text = page.messages; ; text = `,${page.messages}`) {
    yield page.last ? text : `${text}]}`;
    if (!page.last) return;
    page = await chatPage(db, args, page.last);
    if (!page) throw new Error("The chat was deleted while it was read");
  }
}

/** Undefined fields stay unchanged; empty ones are removed. */
export function updateChatFields(
  db: Database,
  address: ChatAddress,
  changes: ChatChanges,
  defaultModelId: string,
): Promise<Chat | AppError> {
  return call(
    db,
    "update_chat",
    {
      ...chatArguments(address),
      title: changes.title ?? null,
      modelId: changes.modelId ?? null,
      instructions: changes.instructions ?? null,
      templateId: changes.templateId || null,
      removesTemplate: changes.templateId === "",
      archived: changes.archived ?? null,
      pinned: changes.pinned ?? null,
      options: optionsIn(changes),
      templateVersion: changes.template_version ?? null,
      defaultModelId,
      acceptsVersion: true,
    },
    z.union([oneChat, missing]),
  );
}

export const removeChat = (db: Database, address: ChatAddress): Promise<Chat | AppError> =>
  call(db, "delete_chat", chatArguments(address), z.union([oneChat, missing]));

/** Returns the ids of the account's chats with an active turn. */
export const selectActiveChats = (
  db: Database,
  accountId: string,
  ids: readonly string[],
): Promise<string[]> => call(db, "active_chats", { accountId, ids });

/** Deletes chats, and sessions that have none then. Returns the sandboxes of these sessions. */
export const removeChats = (
  db: Database,
  accountId: string,
  ids: readonly string[],
): Promise<{ deleted: string[]; sandboxes: SandboxState[] }> =>
  call(
    db,
    "delete_chats",
    { accountId, ids },
    z.object({ deleted: z.array(z.string()), sandboxes: z.array(storedSandbox) }),
  );
