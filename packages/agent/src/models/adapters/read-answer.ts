/**
 * Reads answers of servers with OpenAI's chat completions API generously. The SDK's provider fails at any field of
 * another type than OpenAI's, and knows neither sources nor reasoning between tags, so answers are brought into
 * the form that it reads. Everything in them is untrusted input.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type {
  LanguageModelV4,
  LanguageModelV4Prompt,
  LanguageModelV4Source,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import {
  callsIn,
  errorIn,
  type Fields,
  finishIn,
  ofLlamaCpp,
  parseObject,
  reasoningIn,
  textIn,
  toFields,
  toText,
  usageIn,
} from "./answer-fields.ts";
import { createTagReader, joinSurrogates } from "./split-reasoning.ts";

const MAX_SOURCES = 100;
const MAX_URL_CHARS = 2_048;
const MAX_TITLE_CHARS = 500;
/** The key of `openaiCompatible` metadata under which a reasoning part names its field, unless it is the usual one. */
const FIELD = "reasoningField";
/** The value for reasoning that came between tags in the text, which no server wants back. */
const TAGS = "tags";

/** The answer of the call that is in progress. */
const current = new AsyncLocalStorage<AnswerReader>();

/**
 * Returns the model with calls whose answers are read generously, where its requests are sent with `readableFetch`.
 * `noteReasoning` gets the field in which a stream has reasoning, or `tags`.
 */
export function readAnswers(
  model: LanguageModelV4,
  noteReasoning: (field: string) => void,
): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, prompt: withoutTagged(params.prompt) }),
      wrapGenerate: async ({ doGenerate }) => current.run(new AnswerReader(), doGenerate),
      wrapStream: async ({ doStream }) => {
        const answer = new AnswerReader();
        const result = await current.run(answer, doStream);
        return { ...result, stream: result.stream.pipeThrough(withExtras(answer, noteReasoning)) };
      },
    },
  });
}

const withoutTagged = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) => {
    if (message.role !== "assistant") return message;
    const content = message.content.filter(
      ({ type, providerOptions }) =>
        type !== "reasoning" || providerOptions?.openaiCompatible?.[FIELD] !== TAGS,
    );
    return { ...message, content };
  });

/** Adds the name of the reasoning's field to a stream, and sources before its end. */
const withExtras = (
  answer: AnswerReader,
  noteReasoning: (field: string) => void,
): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> =>
  new TransformStream({
    transform(part, controller) {
      if (part.type === "finish") {
        for (const source of answer.sources()) controller.enqueue(source);
      }
      if (part.type !== "reasoning-start") return controller.enqueue(part);
      const { reasoningField } = answer;
      noteReasoning(reasoningField);
      const isUsual = reasoningField === "reasoning_content";
      const providerMetadata = { openaiCompatible: { [FIELD]: reasoningField } };
      controller.enqueue(isUsual ? part : { ...part, providerMetadata });
    },
  });

/** Returns a `fetch` whose successful responses have the form that the SDK's provider reads. */
export const readableFetch =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    const answer = current.getStore();
    if (!response.ok || !response.body || !answer) return response;
    const { status, statusText, headers } = response;
    // No list follows the field of the request itself, unlike one in a message or the schema of a tool.
    const isStream = /"stream":true[^[\]]*$/.test(String(init?.body ?? "").slice(-500));
    const body = isStream
      ? response.body.pipeThrough(readEvents(answer))
      : answer.readWhole(await response.text());
    return new Response(body, { status, statusText, headers });
  };

/** Reads server-sent events, or a whole JSON answer in their place. */
function readEvents(
  answer: AnswerReader,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let events = "";
  /** The pieces of an answer without events; undefined for a stream of them. */
  let whole: string[] | undefined = [];
  const add = (data: string, event?: string) => {
    // Some servers send each chunk as a line, or leave out the empty lines between events.
    const chunks = data.includes("\n") && !parseObject(data) ? data.split("\n") : [data];
    for (const chunk of chunks) {
      const readable = answer.readEvent(chunk, event);
      if (readable !== undefined) events += `data: ${readable}\n\n`;
    }
  };
  const onEvent = ({ data, event }: EventSourceMessage) => {
    whole = undefined;
    add(data, event);
  };
  const parser = createParser({ onEvent });
  const read = (text: string) => {
    whole?.push(text);
    parser.feed(text);
  };
  return new TransformStream({
    transform(bytes, controller) {
      read(decoder.decode(bytes, { stream: true }));
      if (events === "") return;
      controller.enqueue(encoder.encode(events));
      events = "";
    },
    flush(controller) {
      // An event whose empty line is missing.
      read(`${decoder.decode()}\n\n`);
      const text = whole?.join("") ?? "";
      if (text !== "") add(text);
      if (parseObject(text)) add("[DONE]");
      if (events !== "") controller.enqueue(encoder.encode(events));
    },
  });
}

/** Brings the chunks of one answer into the form that the SDK's provider reads. */
class AnswerReader {
  /** The field in which the server sends reasoning, or `tags`. */
  reasoningField = "reasoning_content";
  readonly #tags = createTagReader();
  readonly #joinText = joinSurrogates();
  readonly #joinReasoning = joinSurrogates();
  readonly #joinArguments = new Map<unknown, (text: string) => string>();
  /** The titles of sources by their URLs. */
  readonly #sources = new Map<string, string | undefined>();
  #hasContent = false;
  #hasCalls = false;
  #hasFinished = false;

  /** Returns the data of an event for the provider; undefined if it has nothing for it. */
  readEvent(data: string, event: string | undefined): string | undefined {
    if (data.trim() === "[DONE]") {
      if (this.#hasFinished || !this.#hasContent) return undefined;
      return JSON.stringify({ choices: [this.#choice({ finish_reason: "stop" }, "delta")] });
    }
    const chunk = parseObject(data);
    if (chunk) return this.#read(chunk, event, "delta");
    if (event === "error") return JSON.stringify({ error: { message: data } });
    // JSON that breaks off is a broken answer, unlike the text of a heartbeat.
    return data.trimStart().startsWith("{") ? data : undefined;
  }

  /** Returns a whole answer for the provider. */
  readWhole(text: string): string {
    const chunk = parseObject(text);
    return (chunk && this.#read(chunk, undefined, "message")) ?? text;
  }

  /** Returns the sources that the answer has cited, in the order of their numbers. */
  sources(): LanguageModelV4Source[] {
    return [...this.#sources].map(([url, title], place) => ({
      ...{ type: "source", sourceType: "url", id: `source-${place + 1}`, url },
      ...(title !== undefined && { title }),
    }));
  }

  #read(chunk: Fields, event: string | undefined, key: "delta" | "message"): string | undefined {
    const choices = Array.isArray(chunk.choices) ? chunk.choices.map(toFields) : [];
    const choice = choices.find((each) => each !== undefined);
    const error = errorIn(chunk, choice, event);
    if (error) return JSON.stringify({ error });
    const isKnown = choice || chunk.usage || chunk.x_groq || Array.isArray(chunk.choices);
    this.#addSources(chunk);
    if (!isKnown && !("id" in chunk)) return undefined;
    return JSON.stringify({
      ...{ id: toText(chunk.id), model: toText(chunk.model) },
      choices: choice ? [this.#choice(choice, key)] : [],
      usage:
        usageIn(chunk.usage) ??
        usageIn(choice?.usage) ??
        usageIn(toFields(chunk.x_groq)?.usage) ??
        usageIn(ofLlamaCpp(chunk.timings)),
    });
  }

  #choice(choice: Fields, key: "delta" | "message"): object {
    // A `message` beside deltas repeats them.
    const sent =
      toFields(choice.delta) ?? (this.#hasContent ? undefined : toFields(choice.message)) ?? {};
    const finish = finishIn(choice.finish_reason);
    this.#addSources(sent);
    const [field, reasoning] = reasoningIn(sent);
    if (field !== undefined) this.reasoningField = field;
    const isEnd = finish !== undefined || key === "message";
    const split = this.#tags(this.#joinText(textIn(sent.content)), isEnd);
    if (split.reasoning !== "" && field === undefined) this.reasoningField = TAGS;
    const thought = this.#joinReasoning(reasoning) + split.reasoning;
    const calls = callsIn(sent).map((call, place) => this.#call(call, place));
    this.#hasContent ||= thought !== "" || split.text !== "" || calls.length > 0;
    this.#hasContent ||= typeof sent.content === "string" && sent.content !== "";
    this.#hasCalls ||= calls.length > 0;
    this.#hasFinished ||= finish !== undefined;
    return {
      [key]: {
        content: split.text,
        ...(thought !== "" && { reasoning_content: thought }),
        ...(typeof sent.refusal === "string" && { refusal: sent.refusal }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      finish_reason: finish === "stop" && this.#hasCalls ? "tool_calls" : finish,
    };
  }

  #call(call: Fields, place: number): object {
    // The name and the arguments of some servers do not have their own object.
    const { name, arguments: input } = toFields(call.function) ?? call;
    const index = call.index == null ? undefined : Number(call.index);
    const join = this.#joinArguments.get(index ?? place) ?? joinSurrogates();
    this.#joinArguments.set(index ?? place, join);
    const google = toFields(toFields(call.extra_content)?.google);
    const signature = google?.thought_signature;
    return {
      ...(Number.isInteger(index) && { index }),
      // Mistral names null in the deltas after the first.
      id: call.id === "null" ? undefined : toText(call.id),
      function: {
        name: toText(name),
        arguments: join(toText(input) ?? (input == null ? "" : JSON.stringify(input))),
      },
      ...(typeof signature === "string" && {
        extra_content: { google: { thought_signature: signature } },
      }),
    };
  }

  /** Notes the citations and search results of Perplexity, xAI and DashScope, and the annotations of OpenRouter. */
  #addSources({ search_results, search_info, citations, annotations }: Fields): void {
    const { search_results: found } = toFields(search_info) ?? {};
    for (const list of [citations, search_results, found, annotations]) {
      for (const entry of Array.isArray(list) ? list.slice(0, MAX_SOURCES) : []) {
        const source = toFields(entry);
        const cited = toFields(source?.url_citation) ?? source;
        const url = toText(cited?.url ?? entry);
        if (url === undefined || url.length > MAX_URL_CHARS || !/^https?:/i.test(url)) continue;
        if (!URL.canParse(url) || this.#sources.size >= MAX_SOURCES) continue;
        const title = toText(cited?.title)?.slice(0, MAX_TITLE_CHARS).toWellFormed();
        this.#sources.set(url, title ?? this.#sources.get(url));
      }
    }
  }
}
