/**
 * Selects the part of a conversation that fits into a model's context. The stored messages never change: a
 * `ContextState` lists the tool results replaced by a note, and the messages replaced by a summary. This
 * file computes, and neither calls a model nor writes anything; `lib/context/fit-context.ts` does both.
 */
import type { ModelMessage, ToolResultPart, ToolSet } from "ai";
import type { Place, Unit } from "./conversation.ts";
import { pdfTokens } from "./pdf-tokens.ts";
import { describeTools } from "./sent-request.ts";
import { isToolImage, pathsOf, withoutImages } from "./tool-images.ts";
import { clearResult, estimateTokens, type ResultFile } from "./tool-results.ts";

/** How a conversation was compacted. The places are the last ones that are affected. */
export interface ContextState {
  /** Without the reports of subagents. */
  readonly clearedTo?: Place;
  readonly reportsClearedTo?: Place;
  readonly summary?: { readonly text: string; readonly to: Place };
}

/** Shorter results are not cleared, because the note would not be much shorter. */
const MIN_CLEARED_TOKENS = 100;
/** The price of an image in tokens, whatever the length of its encoding. */
const IMAGE_TOKENS = 1_600;

const tokensOfMessages = new WeakMap<ModelMessage, number>();

function messageTokens(message: ModelMessage): number {
  const known = tokensOfMessages.get(message);
  if (known !== undefined) return known;
  let images = 0;
  let ofPdfs = 0;
  const text = JSON.stringify(message, (_, value: unknown) => {
    ofPdfs += pdfTokens(value);
    if (!isToolImage(value) && !(typeof value === "string" && value.startsWith("data:")))
      return value;
    images++;
    return "";
  });
  const tokens = estimateTokens(text) + images * IMAGE_TOKENS + ofPdfs;
  tokensOfMessages.set(message, tokens);
  return tokens;
}

export const tokensOf = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0);

const tokensOfTools = new WeakMap<ToolSet, Promise<number>>();

/** Estimates the tokens of what every request has: the instructions and the tools with their schemas. */
export async function fixedTokens(instructions: string, tools: ToolSet): Promise<number> {
  let ofTools = tokensOfTools.get(tools);
  if (!ofTools) {
    ofTools = describeTools(tools).then((each) =>
      estimateTokens(each.map((tool) => JSON.stringify(tool)).join("")),
    );
    tokensOfTools.set(tools, ofTools);
  }
  return estimateTokens(instructions) + (await ofTools);
}

/** The share of the budget above which a request is compacted, and down to which results are cleared. */
const COMPACT_ABOVE = 0.75;
const CLEAR_DOWN_TO = 0.5;
/** Clearing that leaves more is not enough. */
const SUMMARIZE_ABOVE = 0.6;
/** The newest messages that a summary leaves as they are. */
const KEPT_SHARE = 0.2;
/** The share of a summary itself. */
export const SUMMARY_SHARE = 0.1;

const RESERVE = 32_000;

/** @param limit the caller's own, in tokens */
export function budgetOf(window: number, limit: number | null): number {
  const budget = window - Math.min(RESERVE, Math.floor(window / 4));
  return limit === null ? budget : Math.min(limit, budget);
}

export type Plan =
  | {
      readonly kind: "cleared";
      readonly state: ContextState;
      /** The files that must have the cleared results. */
      readonly files: readonly { readonly path: string; readonly text: string }[];
    }
  | {
      readonly kind: "summarized";
      readonly state: ContextState;
      /** The units that the summary has to contain, besides the last summary. */
      readonly units: readonly Unit[];
      readonly to: Place;
    };

export interface Size {
  /** Of the whole request, as measured or estimated. */
  readonly tokens: number;
  /** Of the whole request, as estimated. */
  readonly estimated: number;
  readonly budget: number;
  /** Whether a caller has requested it, however small the request is. Default: false. */
  readonly isRequested?: boolean;
}

/**
 * Plans how to compact a request, in one pass.
 * @returns null when it need not be compacted, or when nothing is left that could be dropped
 */
export function planCompaction(
  units: readonly Unit[],
  state: ContextState,
  { tokens, estimated, budget, isRequested = false }: Size,
): Plan | null {
  if (tokens <= budget * COMPACT_ABOVE && !isRequested) return null;
  const visible = visibleUnits(units, state);
  // Where the whole was measured, its parts take as much more than was estimated.
  const scale = Math.max(1, tokens / estimated);
  const newest = visible.findLastIndex(({ role }) => role === "assistant");
  const files: ResultFile[] = [];
  let after = tokens;
  let cleared = state;
  // A report stands for many steps, so reports go last.
  for (const field of ["clearedTo", "reportsClearedTo"] as const) {
    const from = indexOf(visible, state[field]) + 1;
    for (const unit of visible.slice(from, Math.max(newest, 0))) {
      if (after <= budget * CLEAR_DOWN_TO) break;
      const clear = clearableResults(unit, field);
      if (clear.saved === 0) continue;
      after -= clear.saved * scale;
      files.push(...clear.files);
      cleared = { ...cleared, [field]: { messageId: unit.messageId, step: unit.step } };
    }
  }
  if (cleared !== state && after <= budget * SUMMARIZE_ABOVE) {
    return { kind: "cleared", state: cleared, files };
  }

  const request = visible.findLastIndex(({ role }) => role === "user");
  const from = firstKept(visible, (budget * KEPT_SHARE) / scale);
  const dropped = visible.slice(0, from).filter((_, index) => index !== request);
  const last = dropped.at(-1);
  const saved = dropped.reduce((sum, unit) => sum + tokensOf(unit.messages) * scale, 0);
  if (!last || saved <= budget * SUMMARY_SHARE) {
    return cleared === state ? null : { kind: "cleared", state: cleared, files };
  }
  return {
    kind: "summarized",
    // The kept messages need not be cleared, because the summary has made room.
    state,
    units: visible.slice(0, from),
    to: { messageId: last.messageId, step: last.step },
  };
}

/** Returns the index of the first of the newest units that take so many tokens; at least the last one. */
function firstKept(visible: readonly Unit[], tokens: number): number {
  const request = visible.findLastIndex(({ role }) => role === "user");
  let from = visible.length - 1;
  let kept = tokensOf(visible.at(-1)?.messages ?? []);
  while (from > 0) {
    kept += tokensOf(visible[from - 1]?.messages ?? []);
    if (kept > tokens) break;
    from--;
  }
  // An earlier turn is kept as a whole, because a conversation starts with a user's message.
  while (from < request && visible[from]?.role !== "user") from++;
  return Math.max(0, from);
}

/**
 * Leaves out what does not fit, without a summary: the results of tools first, then the oldest messages.
 * The newest message of the user stays, and so does the last answer to it.
 * @param room for messages, in tokens
 */
export function dropOldest(
  units: readonly Unit[],
  state: ContextState,
  room: number,
): ContextState {
  const fits = (tried: ContextState) => tokensOf(promptOf(units, tried)) <= room;
  const last = units.at(-2);
  if (fits(state) || !last) return state;
  const clearedTo = { messageId: last.messageId, step: last.step };
  const cleared = { ...state, clearedTo, reportsClearedTo: clearedTo };
  if (fits(cleared)) return cleared;
  const visible = visibleUnits(units, cleared);
  const dropped = visible[firstKept(visible, room) - 1];
  if (!dropped) return cleared;
  const to = { messageId: dropped.messageId, step: dropped.step };
  return { ...cleared, summary: { text: state.summary?.text ?? "", to } };
}

/**
 * Returns the units that are not part of the summary. If the summary ends within an answer, they start with
 * the message of the user that it answers, because a conversation starts with a user's message.
 */
function visibleUnits(units: readonly Unit[], { summary }: ContextState): Unit[] {
  const summarized = indexOf(units, summary?.to);
  const asked = units.slice(0, summarized + 2).findLastIndex(({ role }) => role === "user");
  return units.filter((_, index) => index > summarized || index === asked);
}

const indexOf = (units: readonly Unit[], place: Place | undefined): number =>
  place === undefined
    ? -1
    : units.findLastIndex(
        ({ messageId, step }) => messageId === place.messageId && step <= place.step,
      );

/** Returns the messages that a model gets. */
export function promptOf(units: readonly Unit[], state: ContextState): ModelMessage[] {
  const cleared = indexOf(units, state.clearedTo);
  const reportsCleared = indexOf(units, state.reportsClearedTo);
  const places = new Map(units.map((unit, place) => [unit, place]));
  const summary = indexOf(units, state.summary?.to) < 0 ? undefined : state.summary;
  return visibleUnits(units, state).flatMap((unit, index) => {
    const place = places.get(unit) ?? 0;
    const results = place <= cleared ? unit.messages.map(withoutOwnResults) : unit.messages;
    const messages = place <= reportsCleared ? results.map(withoutReports) : results;
    if (index > 0 || !summary?.text) return [...messages];
    return messages.map((message) => withSummary(message, summary.text));
  });
}

const summarized = new WeakMap<ModelMessage, { text: string; message: ModelMessage }>();

/** The summary goes before the message itself: some models reject two messages of one role in a row. */
function withSummary(message: ModelMessage, text: string): ModelMessage {
  if (message.role !== "user") return message;
  const known = summarized.get(message);
  if (known?.text === text) return known.message;
  const note = `<summary>\nThe conversation before this message was condensed to save context:\n\n${text}\n</summary>`;
  const own = typeof message.content === "string" ? [textPart(message.content)] : message.content;
  const changed = { ...message, content: [textPart(note), ...own] };
  summarized.set(message, { text, message: changed });
  return changed;
}

const textPart = (text: string) => ({ type: "text" as const, text });

type Cleared = "clearedTo" | "reportsClearedTo";

const withoutOwnResults = clearing("clearedTo");
const withoutReports = clearing("reportsClearedTo");

/** Returns the function that leaves results out of a message, always with the same object for it. */
function clearing(field: Cleared): (message: ModelMessage) => ModelMessage {
  const known = new WeakMap<ModelMessage, ModelMessage>();
  return (message) => {
    const clearsImages = field === "clearedTo" && pathsOf(message).length > 0;
    if (message.role !== "tool" && !clearsImages) return message;
    const made = known.get(message);
    if (made) return made;
    const changed =
      message.role === "tool"
        ? {
            ...message,
            content: message.content.map((part) =>
              part.type === "tool-result" && isClearable(part, field)
                ? { ...part, output: clearResult(part).output }
                : part,
            ),
          }
        : withoutImages(message);
    known.set(message, changed);
    return changed;
  };
}

const isClearable = ({ toolName, output }: ToolResultPart, field: Cleared): boolean =>
  (toolName === "task") === (field === "reportsClearedTo") &&
  estimateTokens(JSON.stringify(output)) > MIN_CLEARED_TOKENS;

function clearableResults({ messages }: Unit, field: Cleared) {
  const without = field === "clearedTo" ? withoutOwnResults : withoutReports;
  const files: ResultFile[] = [];
  let saved = 0;
  for (const message of messages) {
    saved += messageTokens(message) - messageTokens(without(message));
    if (message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type !== "tool-result" || !isClearable(part, field)) continue;
      files.push(...clearResult(part).files);
    }
  }
  return { saved, files };
}
