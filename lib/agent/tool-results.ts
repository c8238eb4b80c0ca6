/**
 * Large results of tools, as a model gets them: their head, their tail, and the path of a file that has the
 * complete text.
 */
import { createHash } from "node:crypto";
import type { JSONValue, ToolResultPart } from "ai";

/** A result of more characters, or of more tokens, is shown by its head and its tail. */
const MAX_RESULT_CHARS = 8_000;
const MAX_RESULT_TOKENS = 2_000;
/** The share of a shown result that is its head. */
const HEAD_SHARE = 2 / 3;
const SHOWN_TOKENS = 1_500;
/** Of many results of one step, each gets no less. */
const MIN_SHOWN_TOKENS = 100;
/** Where the complete text of a result is, relative to the sandbox's home. */
const RESULTS_FOLDER = ".results";
const HOME = "/home/agent";

/**
 * Estimates the tokens of a text: four characters of an alphabet like the Latin one for each, and one for
 * each character of any other.
 */
export function estimateTokens(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x24f) wide++;
  return Math.ceil((text.length - wide) / 4) + wide;
}

/**
 * Returns the path of the file that has the complete text of a result. Ids that a model could repeat are
 * distinguished by the text.
 */
export function resultPath(toolCallId: string, text: string): string {
  const name = toolCallId.replace(/[^\w-]/g, "_").slice(0, 100);
  const isUnique = name === toolCallId && name.length >= 16;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${HOME}/${RESULTS_FOLDER}/${isUnique ? name : `${name}-${digest}`}.txt`;
}

/** Returns a result as a text whose lines can be read one by one: short values first, long texts whole. */
export function resultText(output: ToolResultPart["output"]): string {
  if (output.type === "text" || output.type === "error-text") return output.value;
  const value: unknown = "value" in output ? output.value : null;
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return JSON.stringify(value, null, 1);
  }
  const isLong = (field: unknown) => typeof field === "string" && /\n|.{200}/s.test(field);
  const lineOf = ([key, field]: [string, unknown]) => `${key}: ${JSON.stringify(field)}`;
  const fields = Object.entries(value);
  return [
    ...fields.filter(([, field]) => !isLong(field)).map(lineOf),
    ...fields.filter(([, field]) => isLong(field)).map(([key, field]) => `${key}:\n${field}`),
  ].join("\n");
}

export interface ShownResult {
  readonly output: ToolResultPart["output"];
  /** The file that must have the complete text; absent where the output is complete. */
  readonly file?: { readonly path: string; readonly text: string };
}

/** @param maxTokens what the result may take if it is shortened */
export function showResult(
  toolCallId: string,
  output: ToolResultPart["output"],
  maxTokens = SHOWN_TOKENS,
): ShownResult {
  const json = JSON.stringify("value" in output ? output.value : null);
  const isShort =
    json.length <= MAX_RESULT_CHARS &&
    estimateTokens(json) <= (maxTokens < SHOWN_TOKENS ? maxTokens : MAX_RESULT_TOKENS);
  if (isShort) return { output };
  const text = resultText(output);
  const path = resultPath(toolCallId, text);
  const head = takeTokens(text, maxTokens * HEAD_SHARE);
  const tail = takeTokens(text, maxTokens * (1 - HEAD_SHARE), "end");
  const left = text.length - head.length - tail.length;
  if (left <= 0) return { output };
  const note = `[${left} characters are left out here. The complete result is in ${path}]`;
  return { output: { type: "text", value: `${head}\n${note}\n${tail}` }, file: { path, text } };
}

/** Results of fewer tokens fit into a quarter of any budget, so that none has to be looked up. */
const FEW_TOKENS = 750;

/**
 * Shows the results of one step, which together take no more than a quarter of the budget.
 * @param budget of the model's context, in tokens
 */
export async function showResults(
  results: readonly (Pick<ToolResultPart, "toolCallId"> & { readonly value: JSONValue })[],
  budget: () => Promise<number>,
): Promise<ShownResult[]> {
  const show = (maxTokens?: number) =>
    results.map(({ toolCallId, value }) =>
      showResult(toolCallId, { type: "json", value }, maxTokens),
    );
  const shown = show();
  const tokens = shown.reduce((sum, { output }) => sum + estimateTokens(JSON.stringify(output)), 0);
  if (tokens <= FEW_TOKENS) return shown;
  const room = (await budget()) / 4;
  if (tokens <= room) return shown;
  return show(Math.max(MIN_SHOWN_TOKENS, Math.floor(room / results.length)));
}

/** Takes the first or the last tokens of a text. */
function takeTokens(text: string, tokens: number, from: "start" | "end" = "start"): string {
  let left = tokens;
  let length = 0;
  while (length < text.length && left > 0) {
    const code = text.charCodeAt(from === "start" ? length : text.length - 1 - length);
    left -= code > 0x24f ? 1 : 0.25;
    length++;
  }
  const taken = from === "start" ? text.slice(0, length) : text.slice(text.length - length);
  return taken.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}

const NOTE =
  /\[\d+ characters are left out here\. The complete result is in (\/home\/agent\/\.results\/[\w-]+\.txt)\]/;

/** Returns the path that a shortened result names. */
export const pathIn = (output: ToolResultPart["output"]): string | undefined =>
  output.type === "text" ? NOTE.exec(output.value)?.[1] : undefined;
