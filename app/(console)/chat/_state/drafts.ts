/** Unsent messages, one for each chat, in local storage. */
const PREFIX = "draft ";
/** Keeps one draft from filling the storage. */
const MAX_DRAFT_LENGTH = 50_000;

export function readDraft(chatId: string): string {
  return localStorage.getItem(PREFIX + chatId) ?? "";
}

export function saveDraft(chatId: string, text: string): void {
  if (text.trim() === "") {
    localStorage.removeItem(PREFIX + chatId);
    return;
  }
  try {
    localStorage.setItem(PREFIX + chatId, text.slice(0, MAX_DRAFT_LENGTH));
  } catch {
    // Storage is full or blocked. The text is still in the box.
  }
}
