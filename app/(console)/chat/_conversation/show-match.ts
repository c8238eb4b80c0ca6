import { foundWords } from "../_list/found-words.ts";

const MAX_MARKS = 500;

/**
 * Scrolls to the words of a search in a message, and marks them until the signal aborts. The text changes
 * when code that draws it is loaded: it is marked again.
 */
export function showMatch(message: HTMLElement, words: string, signal: AbortSignal): void {
  if (signal.aborted) return;
  const pattern = foundWords(words);
  let isScrolled = false;
  const mark = () => {
    const ranges: Range[] = [];
    const texts = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
    while (pattern && texts.nextNode() && ranges.length < MAX_MARKS) {
      const text = texts.currentNode;
      for (const { 0: found, index } of (text.nodeValue ?? "").matchAll(pattern)) {
        const range = new Range();
        range.setStart(text, index);
        range.setEnd(text, index + found.length);
        ranges.push(range);
      }
    }
    // Firefox has them since version 140.
    if ("highlights" in CSS) CSS.highlights.set("found", new Highlight(...ranges));
    if (isScrolled) return;
    (ranges[0]?.startContainer.parentElement ?? message).scrollIntoView({ block: "center" });
    isScrolled = ranges.length > 0;
  };
  mark();
  const changed = new MutationObserver(mark);
  changed.observe(message, { childList: true, characterData: true, subtree: true });
  signal.addEventListener("abort", () => {
    changed.disconnect();
    if ("highlights" in CSS) CSS.highlights.delete("found");
  });
}
