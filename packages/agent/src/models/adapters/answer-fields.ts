/** Reads the fields of chat completions in the forms of different vendors. Each of them may be of any type. */
import { quoteLargeIntegers } from "@platform/kit/large-integers";

/** As `cost_in_usd_ticks` of xAI counts. */
const TICKS_PER_USD = 10_000_000_000;

export type Fields = Readonly<Record<string, unknown>>;

export const toFields = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;

/** Returns a text, also for a number; undefined for everything else. */
export const toText = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : undefined;
};

const toCount = (value: unknown): number | undefined => {
  const count = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof count === "number" && Number.isFinite(count) ? count : undefined;
};

export function parseObject(text: string): Fields | undefined {
  try {
    // Arguments that are not text would lose the digits of their numbers.
    return toFields(
      JSON.parse(/"arguments"\s*:\s*[{[]/.test(text) ? quoteLargeIntegers(text) : text),
    );
  } catch {
    return undefined;
  }
}

/** Returns the error of a chunk, with a text as its message. */
export function errorIn(chunk: Fields, choice: Fields | undefined, event: string | undefined) {
  const { status_code: code, status_msg: text } = toFields(chunk.base_resp) ?? {};
  const ofMiniMax = toCount(code) ? { message: text, code } : undefined;
  const isBare = chunk.choices == null && chunk.message != null && chunk.code != null;
  const isError = event === "error" || chunk.object === "error" || isBare;
  const error = chunk.error || choice?.error || ofMiniMax || (isError && chunk);
  if (!error) return undefined;
  const fields = toFields(error) ?? { message: error };
  const { message, type } = fields;
  return {
    ...fields,
    // The log shows messages, and a value of another kind may quote the conversation.
    message: typeof message === "string" && message !== "" ? message : "An error without a message",
    type: typeof type === "string" ? type : undefined,
    code: ["string", "number"].includes(typeof fields.code) ? fields.code : undefined,
  };
}

const FINISHES: Readonly<Record<string, readonly string[]>> = {
  stop: ["eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed", "finished"],
  length: ["max_tokens", "max_output_tokens", "max_length"],
  tool_calls: ["tool_use", "tool_call", "function_call"],
  content_filter: ["safety", "sensitive", "recitation", "prohibited_content"],
};

/** Returns the reason for which an answer has ended; undefined while it has not. */
export function finishIn(value: unknown): string | undefined {
  const reason = toText(value)?.toLowerCase();
  // DashScope names null.
  if (!reason || reason === "null") return undefined;
  return Object.keys(FINISHES).find((known) => FINISHES[known]?.includes(reason)) ?? reason;
}

/** Returns the text of a text, a part in one of these fields, or a list of them. */
export function textIn(value: unknown, fields: readonly string[] = ["text"]): string {
  if (Array.isArray(value)) return value.map((each) => textIn(each, fields)).join("");
  const part = toFields(value);
  if (!part) return toText(value) ?? "";
  const field = fields.find((each) => part[each] != null);
  return field === undefined ? "" : textIn(part[field], fields);
}

/** Returns the text of reasoning and the field in which it came, if any. */
export function reasoningIn(sent: Fields): [string | undefined, string] {
  const thought = (value: unknown) => textIn(value, ["text", "content", "summary"]);
  for (const field of ["reasoning_content", "reasoning", "reasoning_details"]) {
    const text = thought(sent[field]);
    if (text !== "") return [field, text];
  }
  const parts = Array.isArray(sent.content) ? sent.content : [sent.content];
  const text = parts.map((part) => thought(toFields(part)?.thinking)).join("");
  return [text === "" ? undefined : "content", text];
}

/** Returns the calls of tools, of which some servers send a single one without a list. */
export const callsIn = ({ tool_calls: calls }: Fields): Fields[] =>
  [calls]
    .flat()
    .map(toFields)
    .filter((call) => call !== undefined);

/**
 * Returns the token counts of a report in OpenAI's fields, and its cost in USD; undefined if it counts nothing. A
 * total above the sum has output that the vendor bills and does not count, such as reasoning.
 */
export function usageIn(value: unknown): object | undefined {
  const usage = toFields(value) ?? {};
  const total = toCount(usage.total_tokens);
  const output = toCount(usage.completion_tokens ?? usage.output_tokens);
  const input = toCount(usage.prompt_tokens ?? usage.input_tokens);
  if (!input && !output) return undefined;
  const details = toFields(usage.completion_tokens_details) ?? usage;
  const cached = toFields(usage.prompt_tokens_details)?.cached_tokens;
  return {
    prompt_tokens: input,
    completion_tokens: Math.max(output ?? 0, (total ?? 0) - (input ?? 0)),
    total_tokens: total,
    prompt_tokens_details: {
      cached_tokens: toCount(cached ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens),
    },
    completion_tokens_details: { reasoning_tokens: toCount(details.reasoning_tokens) },
    cost: costIn(usage),
  };
}

/** Returns the report of llama.cpp, which has none in OpenAI's form unless it is asked for. */
export function ofLlamaCpp(timings: unknown): Fields {
  const { cache_n, prompt_n, predicted_n } = toFields(timings) ?? {};
  const cached_tokens = toCount(cache_n) ?? 0;
  const prompt_tokens = (toCount(prompt_n) ?? 0) + cached_tokens;
  return { prompt_tokens, completion_tokens: predicted_n, cached_tokens };
}

/** Returns the cost as xAI, Perplexity or OpenRouter reports it, in USD. */
function costIn(usage: Fields): number | undefined {
  const ticks = toCount(usage.cost_in_usd_ticks);
  if (ticks !== undefined) return ticks / TICKS_PER_USD;
  const cost = toCount(toFields(usage.cost)?.total_cost ?? usage.cost);
  // With the account's key at the vendor, OpenRouter's cost is its fee only.
  const upstream = usage.is_byok === true && toFields(usage.cost_details)?.upstream_inference_cost;
  return cost === undefined ? undefined : cost + (toCount(upstream) ?? 0);
}
