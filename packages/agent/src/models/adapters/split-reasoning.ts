/** Joins parts that a model server has split, and extracts reasoning from a text. */

/** The tags of reasoning by the models that write them, where the server has no parser for it. */
const TAGS: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["[THINK]", "[/THINK]"],
  ["◁think▷", "◁/think▷"],
  ["<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"],
];
/** How much white space may precede a tag. */
const MAX_HELD_CHARS = 200;

/**
 * Returns a function that takes the deltas of a text, and returns their text and reasoning. Only tags at the start of
 * an answer count: a later one is quoted.
 */
export function createTagReader() {
  let state: "start" | "reasoning" | "text" = "start";
  let held = "";
  let close = "";
  /** White space beside a tag is not part of the text. */
  let trims = false;
  const trimmed = (text: string): string => {
    const rest = trims ? text.trimStart() : text;
    trims &&= rest === "";
    return rest;
  };
  /** @param isEnd whether no delta follows */
  return (delta: string, isEnd: boolean): { readonly text: string; readonly reasoning: string } => {
    if (state === "text") return { text: trimmed(delta), reasoning: "" };
    held += delta;
    if (state === "start") {
      const begun = held.trimStart();
      const tag = TAGS.find(([open]) => begun.startsWith(open)) ?? tagWithoutStart(begun);
      const mayBecome = TAGS.flat().some((each) => each.startsWith(begun));
      if (!tag && mayBecome && held.length <= MAX_HELD_CHARS && !isEnd) {
        return { text: "", reasoning: "" };
      }
      if (!tag) {
        state = "text";
        return { text: held, reasoning: "" };
      }
      state = "reasoning";
      trims = true;
      held = begun.slice(begun.startsWith(tag[0]) ? tag[0].length : 0);
      close = tag[1];
    }
    const end = held.indexOf(close);
    const kept = end >= 0 || isEnd ? 0 : commonEnd(held, close);
    const reasoning = trimmed(held.slice(0, end < 0 ? held.length - kept : end));
    if (end < 0) {
      held = held.slice(held.length - kept);
      return { text: "", reasoning };
    }
    state = "text";
    trims = true;
    return { text: trimmed(held.slice(end + close.length)), reasoning };
  };
}

/**
 * Returns the tag that ends the reasoning of a text whose start tag was in the prompt. That shows only in an answer
 * that is whole, or that repeats the tag for reasoning which the server has taken out.
 */
const tagWithoutStart = (text: string) =>
  TAGS.find(([, close]) => text.startsWith(close) || text.includes(`\n${close}\n`));

/** Returns how many characters at the end of the text may be the start of the tag. */
function commonEnd(text: string, tag: string): number {
  let length = Math.min(text.length, tag.length - 1);
  while (length > 0 && !tag.startsWith(text.slice(-length))) length--;
  return length;
}

/**
 * Returns a function that takes the deltas of a text and returns them well-formed. The first half of a surrogate pair
 * waits for the second.
 */
export function joinSurrogates(): (delta: string) => string {
  let half = "";
  return (delta) => {
    if (delta === "") return "";
    const text = half + delta;
    half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    return (half ? text.slice(0, -1) : text).toWellFormed();
  };
}
