/** What was written and not sent, for each chat, in this browser. */
const PREFIX = "draft ";
/** A draft is a convenience: none of them may fill the browser's storage. */
const LONGEST = 50_000;

export function readDraft(chatId: string): string {
  return localStorage.getItem(PREFIX + chatId) ?? "";
}

export function keepDraft(chatId: string, text: string): void {
  if (text.trim() === "") {
    localStorage.removeItem(PREFIX + chatId);
    return;
  }
  try {
    localStorage.setItem(PREFIX + chatId, text.slice(0, LONGEST));
  } catch {
    // The storage is full or forbidden: the text is still in the box.
  }
}
