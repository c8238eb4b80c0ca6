/** Unsent messages, one for each chat, in local storage, for each account that signs in here. */
import { sessionEmail } from "@/app/(console)/_session/auth.ts";

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
