/** Unsent messages, in the browser's storage, for each account that signs in here. */
import { sessionEmail } from "../../_session/auth.ts";
import type { ChatAddress } from "./attachment.ts";
import type { WrittenMessage } from "./message-parts.ts";

/** @param name the chat's id, or the name of the page that creates one */
export const draftKeyOf = (name: string): string => `draft ${sessionEmail()} ${name}`;

/** The key of the files that are uploaded for unsent messages. */
export const keptFilesKey = (): string => `draft files ${sessionEmail()}`;

/** Keeps one draft from filling the storage. */
const MAX_DRAFT_LENGTH = 50_000;

export const readDraft = (key: string): string => localStorage.getItem(key) ?? "";

export function saveDraft(key: string, text: string): void {
  try {
    if (text.trim() === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text.slice(0, MAX_DRAFT_LENGTH));
  } catch {
    // Storage is full or blocked. The text is still in the box.
  }
}

export type SentMessage = WrittenMessage & { readonly id: string };

export interface Outbox {
  read(): readonly SentMessage[];
  keep(message: SentMessage): void;
  forget(messageId: string): void;
}

/** A message that was sent, and that the service has neither stored nor refused yet. */
export interface UnsentMessage extends SentMessage {
  /** The chat's id, or the name of the page that creates one. */
  readonly draftKey: string;
  /** Null until the chat is created. */
  readonly chat: ChatAddress | null;
}

/** Session storage survives a reload, and other tabs do not show a message that this one is sending. */
const unsentKey = (): string => `unsent ${sessionEmail()}`;

const readAllUnsent = () => readList<UnsentMessage>("sessionStorage", unsentKey);
const without = (messageId: string) => readAllUnsent().filter(({ id }) => id !== messageId);

export const readUnsent = (draftKey: string): readonly UnsentMessage[] =>
  readAllUnsent().filter((message) => message.draftKey === draftKey);

export const keepUnsent = (message: UnsentMessage): void =>
  writeList("sessionStorage", unsentKey, [...without(message.id), message]);

export const forgetUnsent = (messageId: string): void =>
  writeList("sessionStorage", unsentKey, without(messageId));

type StorageName = "localStorage" | "sessionStorage";

/** Returns what `writeList` has stored; nothing on a server, too. */
export function readList<T>(storage: StorageName, key: () => string): readonly T[] {
  try {
    return JSON.parse(window[storage].getItem(key()) ?? "[]");
  } catch {
    return [];
  }
}

export function writeList(storage: StorageName, key: () => string, list: readonly unknown[]): void {
  try {
    if (list.length === 0) window[storage].removeItem(key());
    else window[storage].setItem(key(), JSON.stringify(list));
  } catch {
    // Storage is full or blocked: the list ends with the page.
  }
}
