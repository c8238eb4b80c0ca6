/**
 * Bounds a model's answer. An answer is untrusted input like a caller's: it may never end, or call
 * a thousand tools at once, and all of it is parsed, stored and sent to the model again.
 */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { measureJson } from "@platform/kit/measure-json";
import { wrapLanguageModel } from "ai";

/** The limit for text, reasoning and tool input together, several times the output limit of any model. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;
export const MAX_TOOL_CALLS = 128;
/** The limit for texts, reasoning, files and sources together. */
const MAX_BLOCKS = 1_000;
const MAX_INPUT_DEPTH = 100;
const MAX_INPUT_VALUES = 100_000;
/** Each part of a stream counts for this many more characters, which bounds empty parts too. */
const CHARS_PER_PART = 16;
const DEADLINE_MS = 30 * 60_000;

class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

/** Returns the model with answers that fail as soon as they exceed a limit. */
export function boundAnswer(model: LanguageModelV4): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: async ({ model, params }) => {
        const { abortSignal, end } = openDeadline(params.abortSignal);
        try {
          const result = await model.doGenerate({ ...params, abortSignal });
          const count = createCounter();
          for (const part of result.content) {
            if (part.type === "tool-call") count.call(part.input);
            else count.block("text" in part ? part.text.length : 0);
          }
          return result;
        } finally {
          end();
        }
      },
      wrapStream: async ({ model, params }) => {
        const { abortSignal, end } = openDeadline(params.abortSignal);
        try {
          const { stream, ...rest } = await model.doStream({ ...params, abortSignal });
          const bounded = boundStream();
          // A failure of the one reaches the reader of the other.
          stream
            .pipeTo(bounded.writable)
            .catch(() => {})
            .finally(end);
          return { ...rest, stream: bounded.readable };
        } catch (error) {
          end();
          throw error;
        }
      },
    },
  });
}

/**
 * Returns a signal that aborts with another one, or at the deadline. It is neither `timeout` nor `any`: a
 * listener that is left behind on one of these, such as `fetch`'s, keeps it until the deadline.
 */
function openDeadline(given: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(given?.reason);
  const late = () => controller.abort(new DOMException("The model took too long", "TimeoutError"));
  const timer = setTimeout(late, DEADLINE_MS).unref();
  if (given?.aborted) abort();
  given?.addEventListener("abort", abort, { once: true });
  return {
    abortSignal: controller.signal,
    end: () => {
      clearTimeout(timer);
      given?.removeEventListener("abort", abort);
    },
  };
}

function boundStream(): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  const count = createCounter();
  return new TransformStream({
    transform(part, controller) {
      countPart(part, count);
      controller.enqueue(part);
    },
  });
}

function countPart(part: LanguageModelV4StreamPart, count: Counter): void {
  switch (part.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      count.chars(part.delta.length);
      break;
    case "tool-call":
      count.call(part.input);
      break;
    case "tool-input-start":
      count.start();
      break;
    case "text-end":
    case "reasoning-end":
    case "tool-input-end":
      count.chars(0);
      break;
    default:
      count.block(0);
  }
}

type Counter = ReturnType<typeof createCounter>;

/** Returns functions that throw AnswerTooLarge when a limit is exceeded. */
function createCounter() {
  let written = 0;
  let calls = 0;
  let starts = 0;
  let blocks = 0;
  const chars = (length: number): void => {
    written += CHARS_PER_PART + length;
    if (written > MAX_ANSWER_CHARS) throw new AnswerTooLarge(`over ${MAX_ANSWER_CHARS} characters`);
  };
  return {
    chars,
    block(length: number): void {
      chars(length);
      if (++blocks > MAX_BLOCKS) throw new AnswerTooLarge(`over ${MAX_BLOCKS} blocks`);
    },
    /** Counts a call whose input follows, or never comes. */
    start(): void {
      chars(0);
      if (++starts > MAX_TOOL_CALLS) throw new AnswerTooLarge(`over ${MAX_TOOL_CALLS} tool calls`);
    },
    /** Counts a call with its whole input, which may have come in deltas before. */
    call(input: string): void {
      if (++calls > MAX_TOOL_CALLS) throw new AnswerTooLarge(`over ${MAX_TOOL_CALLS} tool calls`);
      if (input.length > MAX_ANSWER_CHARS) throw new AnswerTooLarge("a tool input is too long");
      const { depth, values } = measureJson(input);
      if (depth > MAX_INPUT_DEPTH) throw new AnswerTooLarge("a tool input is too deep");
      if (values > MAX_INPUT_VALUES) throw new AnswerTooLarge("a tool input has too many values");
    },
  };
}
