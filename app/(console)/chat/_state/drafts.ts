/** Unsent messages, in the browser's storage, for each account that signs in here. */
import { sessionEmail } from "../../_session/auth.ts";
import type { ChatAddress } from "./attachment.ts";
import type { WrittenMessage } from "./message-parts.ts";

/** @param name the chat's id, or the name of the page that begins one */
export const draftKeyOf = (name: string): string => `draft ${sessionEmail()} ${name}`;

/** The key of the files that are uploaded for unsent messages. */
export const keptFilesKey = (): string => `draft files ${sessionEmail()}`;

/** Keeps one draft from filling the storage. */
const MAX_DRAFT_LENGTH = 50_000;

export function readDraft(key: string): string {
  return localStorage.getItem(key) ?? "";
}

export function saveDraft(key: string, text: string): void {
  if (text.trim() === "") {
    localStorage.removeItem(key);
    return;
  }
  try {
    localStorage.setItem(key, text.slice(0, MAX_DRAFT_LENGTH));
  } catch {
    // Storage is full or blocked. The text is still in the box.
  }
}

export interface SentMessage extends WrittenMessage {
  readonly id: string;
}

export interface Outbox {
  read(): readonly SentMessage[];
  keep(message: SentMessage): void;
  forget(messageId: string): void;
}

/** A message that was sent, and that the service has neither stored nor refused yet. */
export interface UnsentMessage extends SentMessage {
  /** The chat's id, or the name of the page that begins one. */
  readonly draftKey: string;
  /** Null until the chat is created. */
  readonly chat: ChatAddress | null;
}

/** Session storage survives a reload, and other tabs do not show a message that this one is sending. */
const unsentKey = (): string => `unsent ${sessionEmail()}`;

export const readUnsent = (draftKey: string): readonly UnsentMessage[] =>
  readAllUnsent().filter((message) => message.draftKey === draftKey);

export function keepUnsent(message: UnsentMessage): void {
  writeUnsent([...readAllUnsent().filter(({ id }) => id !== message.id), message]);
}

export function forgetUnsent(messageId: string): void {
  writeUnsent(readAllUnsent().filter(({ id }) => id !== messageId));
}

function readAllUnsent(): readonly UnsentMessage[] {
  try {
    return JSON.parse(sessionStorage.getItem(unsentKey()) ?? "[]");
  } catch {
    return [];
  }
}

function writeUnsent(messages: readonly UnsentMessage[]): void {
  try {
    if (messages.length === 0) sessionStorage.removeItem(unsentKey());
    else sessionStorage.setItem(unsentKey(), JSON.stringify(messages));
  } catch {
    // Storage is full or blocked: the message ends with the page.
  }
}
