/**
 * Results of tools as a model gets them. Text stays text, and what exceeds the room of one result is left out where
 * the model sees it, with the path of a file that has it.
 */
import { createHash } from "node:crypto";
import type { JSONValue, ToolResultPart } from "ai";

/** The share of a model's window that one result may take, and its bounds in tokens. */
const RESULT_SHARE = 0.05;
const MIN_RESULT_TOKENS = 4_000;
const MAX_RESULT_TOKENS = 16_000;
/** The share of a shortened text that is its head. */
const HEAD_SHARE = 2 / 3;
/** Of many results of one step, each gets no less. */
const MIN_SHOWN_TOKENS = 100;
/** Where the complete text of a result is, relative to the sandbox's home. */
const RESULTS_FOLDER = ".results";
const HOME = "/home/agent";

/** The tools whose results are shown as lines and texts. Other results are JSON while they are short. */
const SHOWN_AS_TEXT = "bash read grep glob skill task fetch web_search list_schedules".split(" ");
/** Their texts end where the room does, because they can be read on from there. */
const READ_ON = ["read", "skill"];
/** Fields that are texts, however short. */
const TEXTS = ["stdout", "stderr", "content", "instructions", "result", "body", "text"];
/** A longer value starts a new line. */
const MAX_VALUE_CHARS = 200;
/** Room for the note about the omitted part. */
const NOTE_TOKENS = 60;
/** With more of them, a result is shortened as one text. */
const MAX_TEXTS = 4;

/**
 * Estimates the tokens of a text: four characters of an alphabet like the Latin one for each, two of another
 * alphabet, and one and a half of Chinese, Japanese and Korean.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) tokens += tokensOfCode(text.charCodeAt(at));
  return Math.ceil(tokens);
}

function tokensOfCode(code: number): number {
  if (code < 0x250) return 1 / 4;
  if (code < 0x2e80) return 1 / 2;
  // Each half of a character beyond the first plane, such as an emoji, is one.
  return code >= 0xd800 && code < 0xe000 ? 1 : 2 / 3;
}

/** Returns the tokens that one result may take, by the window of the model. */
const resultTokens = (window: number): number =>
  Math.min(MAX_RESULT_TOKENS, Math.max(MIN_RESULT_TOKENS, Math.floor(window * RESULT_SHARE)));

/**
 * Returns the path of the file that has the complete text of a result. Ids that a model could repeat are
 * distinguished by the text.
 */
function resultPath(toolCallId: string, text: string): string {
  const name = toolCallId.replace(/[^\w-]/g, "_").slice(0, 100);
  const isUnique = name === toolCallId && name.length >= 16;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${HOME}/${RESULTS_FOLDER}/${isUnique ? name : `${name}-${digest}`}.txt`;
}

/** A part of a result: a short value in one line, or a text with its own lines. */
interface Field {
  readonly key: string;
  readonly text: string;
  readonly isLong: boolean;
}

/** Returns the fields of a result, short ones first. */
function fieldsOf(value: unknown): Field[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ key: "", text: linesOf(value), isLong: true }];
  }
  const fields = Object.entries(value).map(([key, field]: [string, unknown]) => {
    const text = linesOf(field);
    const json = JSON.stringify(field);
    const isText = typeof field === "string" && TEXTS.includes(key) && field !== "";
    const isList = Array.isArray(field) && field.length > 0;
    const isLong = isText || isList || json.length > MAX_VALUE_CHARS;
    return { key, text: isLong ? text : json, isLong };
  });
  return [...fields.filter(({ isLong }) => !isLong), ...fields.filter(({ isLong }) => isLong)];
}

/** A list has a line for each of its members. */
function linesOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return JSON.stringify(value, null, 1);
  const isLine = (member: unknown) => typeof member === "string" && !member.includes("\n");
  return value.map((each) => (isLine(each) ? each : JSON.stringify(each))).join("\n");
}

const lineOf = ({ key, text, isLong }: Field): string =>
  isLong ? `${key === "" ? "" : `${key}:\n`}${text}` : `${key}: ${text}`;

const textOf = (fields: readonly Field[]): string => fields.map(lineOf).join("\n");

/** Returns a result as the text that a model gets of it, where nothing is left out. */
export function resultText(output: ToolResultPart["output"]): string {
  if (output.type === "text" || output.type === "error-text") return output.value;
  return textOf(fieldsOf("value" in output ? output.value : null));
}

export interface ResultFile {
  readonly path: string;
  readonly text: string;
}

export interface ShownResult {
  readonly output: ToolResultPart["output"];
  /** The files that must have the complete texts; none where the output is complete. */
  readonly files: readonly ResultFile[];
}

interface GivenResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: ToolResultPart["output"];
}

/** @param maxTokens the room for the result */
export function showResult(
  { toolCallId, toolName, output }: GivenResult,
  maxTokens = MIN_RESULT_TOKENS,
): ShownResult {
  const value: unknown = "value" in output ? output.value : null;
  const given = typeof value === "object" && value !== null ? value : {};
  const isText = SHOWN_AS_TEXT.includes(toolName) && !("error" in given) && !("images" in given);
  const fields = fieldsOf(value);
  const whole = textOf(fields);
  // Instructions stay whole in every later turn.
  const room = toolName === "skill" ? Math.max(maxTokens, MAX_RESULT_TOKENS) : maxTokens;
  if (estimateTokens(whole) <= room) {
    return { output: isText ? { type: "text", value: whole } : output, files: [] };
  }
  const read = READ_ON.includes(toolName) && fields.find(({ key }) => TEXTS.includes(key));
  if (read) {
    const start = startOf(given, read, room);
    return { output: { type: "text", value: textOf(fieldsOf(start)) }, files: [] };
  }
  const isDivisible =
    fields.filter(({ isLong }) => isLong).length <= MAX_TEXTS &&
    estimateTokens(textOf(fields.filter(({ isLong }) => !isLong))) < room / 2;
  const parts = isDivisible ? fields : [{ key: "", text: whole, isLong: true }];
  const files: ResultFile[] = [];
  let left = room - estimateTokens(textOf(parts.filter(({ isLong }) => !isLong)));
  let waiting = parts.filter(({ isLong }) => isLong).length;
  const texts = new Map<Field, string>();
  for (const part of parts.toSorted((a, b) => a.text.length - b.text.length)) {
    if (!part.isLong) continue;
    const share = left / waiting--;
    const tokens = estimateTokens(part.text);
    left -= Math.min(tokens, share);
    if (tokens <= share) continue;
    const suffix = files.length === 0 ? "" : `-${part.key.replace(/\W/g, "_").slice(0, 30)}`;
    const file = { path: resultPath(toolCallId + suffix, part.text), text: part.text };
    files.push(file);
    texts.set(part, shorten(file, share));
  }
  const shown = parts.map((part) => ({ ...part, text: texts.get(part) ?? part.text }));
  return { output: { type: "text", value: textOf(shown) }, files };
}

/** Returns a result with the start of the text that was read, up to the end of a line where there is one, and how to read on. */
function startOf(given: object, { key, text }: Field, room: number) {
  const others = { ...given, [key]: "" };
  const tokens = room - estimateTokens(textOf(fieldsOf(others))) - NOTE_TOKENS;
  const taken = takeTokens(text, Math.max(MIN_SHOWN_TOKENS / 2, tokens));
  const start = taken.slice(0, taken.lastIndexOf("\n") + 1) || taken;
  const lines = countOf(start);
  if (key === "instructions") {
    const note = `[These are the first ${lines} lines. Read the whole text of the skill, which is at path, with read.]`;
    return { ...given, truncated: true, [key]: `${note}\n\n${start}` };
  }
  const first = Number(Reflect.get(given, "startLine") ?? 1);
  const note = `Line ${first} is longer than ${start.length} characters: cut -c shows another part of it`;
  const endLine = first + Math.max(0, lines - 1);
  return {
    ...given,
    ...(lines === 0 && { note }),
    ...{ endLine, truncated: true, nextOffset: endLine + 1, [key]: start },
  };
}

const countOf = (text: string): number => text.split("\n").length - 1;

/** Returns the head and the tail of a text, by whole lines where there are any, and where the rest is. */
function shorten({ path, text }: ResultFile, tokens: number): string {
  let head = takeTokens(text, tokens * HEAD_SHARE);
  let tail = takeTokens(text, tokens * (1 - HEAD_SHARE), "end");
  const complete = `The complete result is in ${path}`;
  const lastLine = head.lastIndexOf("\n") + 1;
  const firstLine = tail.indexOf("\n") + 1;
  if (lastLine === 0 || firstLine === 0 || firstLine === tail.length) {
    const left = text.length - head.length - tail.length;
    const line = countOf(head) + 1;
    return `${head}\n[${left} characters from here on are left out. ${complete}: sed -n ${line}p shows such a long line, cut -c a part of it]\n${tail}`;
  }
  head = head.slice(0, lastLine);
  tail = tail.slice(firstLine);
  const from = countOf(head) + 1;
  const to = countOf(text.slice(0, text.length - tail.length));
  const total = countOf(text) + (text.endsWith("\n") ? 0 : 1);
  return `${head}[Lines ${from} to ${to} of ${total} are left out here. ${complete}: read it with offset ${from} and limit ${to - from + 1}]\n${tail}`;
}

/** Results of fewer tokens fit into any window, so none has to be looked up. */
const FEW_TOKENS = 750;

/**
 * Shows the results of one step, which together take no more than a quarter of the budget.
 * @param context resolves with the window of the model and the budget of its context, in tokens
 */
export async function showResults(
  results: readonly (Omit<GivenResult, "output"> & { readonly value: JSONValue })[],
  context: () => Promise<{ readonly window: number; readonly budget: number }>,
): Promise<ShownResult[]> {
  const show = (maxTokens?: number) =>
    results.map(({ value, ...call }) =>
      showResult({ ...call, output: { type: "json", value } }, maxTokens),
    );
  const tokensOf = (shown: readonly ShownResult[]) =>
    shown.reduce((sum, { output }) => sum + estimateTokens(JSON.stringify(output)), 0);
  const shown = show();
  const tokens = tokensOf(shown);
  if (tokens <= FEW_TOKENS) return shown;
  const { window, budget } = await context();
  const room = budget / 4;
  const wide = show(resultTokens(window));
  if (tokensOf(wide) <= room) return wide;
  return show(Math.max(MIN_SHOWN_TOKENS, Math.floor(room / results.length)));
}

/** Takes the first or the last tokens of a text. */
function takeTokens(text: string, tokens: number, from: "start" | "end" = "start"): string {
  let left = tokens;
  let length = 0;
  while (length < text.length && left > 0) {
    left -= tokensOfCode(text.charCodeAt(from === "start" ? length : text.length - 1 - length));
    length++;
  }
  const taken = from === "start" ? text.slice(0, length) : text.slice(text.length - length);
  return taken.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}

/** How much of the values before a text stays of a result that is cleared. */
const MAX_HEAD_CHARS = 120;

/** Returns what stands for a result that is left out, and the file that must have its text unless it has one. */
export function clearResult({ toolCallId, output }: Omit<GivenResult, "toolName">): ShownResult {
  const text = resultText(output);
  const values = /^(?:\w+: .*\n)*\w+:\n/.exec(text)?.[0] ?? "";
  const body = text.slice(values.length);
  const own = resultPath(toolCallId, "").replace(/(-[0-9a-f]{8})?\.txt$/, "");
  const known = [...text.matchAll(COMPLETE)].map(([, path = ""]) => path);
  const paths = known.filter((path) => path.startsWith(own));
  const files = paths.length > 0 ? [] : [{ path: resultPath(toolCallId, body), text: body }];
  const where = paths.length > 0 ? paths.join(", ") : files[0]?.path;
  const head = values
    .replace(/\w+:\n$/, "")
    .replaceAll("\n", ", ")
    .slice(0, MAX_HEAD_CHARS);
  const value = `[Removed to save context: ${head}its text is in ${where}]`;
  return { output: { type: "text", value }, files };
}

const COMPLETE = /The complete result is in (\/home\/agent\/\.results\/[\w-]+\.txt)[:\]]/g;
