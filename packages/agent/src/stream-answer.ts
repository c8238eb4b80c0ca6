/**
 * One model call. It streams what `streamText` of the AI SDK streams for a single step, and returns the
 * same messages, without that function's chain of streams, which costs more CPU than the rest of a turn.
 * `packages/agent/tests/stream-answer.test.ts` compares the two. No other file imports `ai/internal`,
 * whose functions may change with any release. This file is long because one has to read it beside the
 * SDK's.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { largeIntegersIn, quoteLargeIntegers } from "@platform/kit/large-integers";
import {
  DefaultGeneratedFile,
  generateId,
  type ModelMessage,
  NoOutputGeneratedError,
  StreamProviderError,
  type TextStreamPart,
  type ToolSet,
  type TypedToolCall,
  toUIMessageChunk,
  type UIMessageChunk,
} from "ai";
import {
  asLanguageModelUsage,
  convertToLanguageModelPrompt,
  createNullLanguageModelUsage,
  logWarnings,
  parseToolCall,
  prepareRetries,
  prepareTools,
  standardizePrompt,
  toResponseMessages,
} from "ai/internal";
import { tooLong } from "./describe-failure.ts";
import { downloadFile } from "./download-file.ts";
import { withResults } from "./models/acceptable-prompt.ts";

/** Of an integer in an error. */
const MAX_SHOWN_DIGITS = 40;

interface AnswerRequest {
  readonly model: LanguageModelV4;
  readonly instructions: string;
  readonly messages: ModelMessage[];
  /** Without `execute`: the caller runs them. */
  readonly tools: ToolSet;
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
  /** How long a reasoning model thinks. Default: the model's own. */
  readonly reasoning?: LanguageModelV4CallOptions["reasoning"];
  readonly temperature?: number | undefined;
  /** At which the answer ends. Default: the model's own */
  readonly maxOutputTokens?: number | undefined;
  /** How often a call that fails before its answer starts is repeated. Default: 2 */
  readonly maxRetries?: number | undefined;
  readonly signal: AbortSignal;
  /** Called with each chunk of the answer's content. */
  readonly write: (chunk: UIMessageChunk) => void;
}

export interface Answer {
  readonly messages: ModelMessage[];
  readonly calls: readonly TypedToolCall<ToolSet>[];
  readonly usage: ReturnType<typeof asLanguageModelUsage>;
  readonly finishReason: string;
}

/**
 * Calls the model, at most `maxRetries` times more until its answer starts, and reads the answer to its end.
 * @returns the first failure, if any, which may come after chunks, including when `signal` aborts.
 * Throws only errors of `write`.
 */
export async function streamAnswer(
  request: AnswerRequest,
): Promise<Answer | { readonly failure: unknown }> {
  const { signal, write } = request;
  const content = new AnswerContent(request);
  const fail = (error: unknown): undefined => content.fail(error);
  const stream = await openStream(request).catch(fail);
  if (!stream) return { failure: content.failure };
  const reader = stream.getReader();
  // Ends a pending read, even if the model ignores the signal.
  const stop = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (;;) {
      const next = await reader.read().catch(fail);
      if (!next || next.done || signal.aborted) break;
      const chunk = await content.add(next.value).catch(fail);
      if (chunk) write(chunk);
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return content.finish().catch((failure: unknown) => ({ failure }));
}

/** A call that fails before its answer starts is repeated, if that can help. */
async function openStream(request: AnswerRequest) {
  const { model, instructions, messages, tools, providerOptions, reasoning, signal } = request;
  const { temperature, maxOutputTokens } = request;
  const { retry } = prepareRetries({ maxRetries: request.maxRetries, abortSignal: signal });
  return await retry(async () => {
    const opening = model.doStream({
      prompt: await convertToLanguageModelPrompt({
        prompt: await standardizePrompt({ instructions, messages: withResults(messages) }),
        supportedUrls: await model.supportedUrls,
        download: downloadFile,
        abortSignal: signal,
        provider: model.provider.split(".")[0],
      }),
      tools: await prepareTools({ tools }),
      toolChoice: { type: "auto" },
      ...(providerOptions && { providerOptions }),
      ...(reasoning && { reasoning }),
      ...(temperature !== undefined && { temperature }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      abortSignal: signal,
      includeRawChunks: false,
    });
    const { stream } = await Promise.resolve(opening).catch((error: unknown) => {
      // The same request does not fit the next time either.
      throw tooLong(error) ? Object.assign(Object(error), { isRetryable: false }) : error;
    });
    return stream;
  });
}

/** Why an answer ends that has no room left in the context, as Anthropic's and Z.ai's servers say it. */
const WINDOW_EXCEEDED = "model_context_window_exceeded";

type Part = TextStreamPart<ToolSet>;
type Content = Parameters<typeof toResponseMessages>[0]["content"][number];
type Block = Extract<Content, { type: "text" | "reasoning" }>;

/** The content of an answer while it arrives. */
class AnswerContent {
  failure: unknown;
  readonly #request: AnswerRequest;
  readonly #content: Content[] = [];
  readonly #calls: TypedToolCall<ToolSet>[] = [];
  readonly #texts = new Blocks("text");
  readonly #reasonings = new Blocks("reasoning");
  #firstText: { readonly id: string; metadata?: Block["providerMetadata"] } | undefined;
  #warnings: SharedV4Warning[] = [];
  #usage = createNullLanguageModelUsage();
  #finishReason = "other";
  #hasOutput = false;
  #hasEnded = false;

  constructor(request: AnswerRequest) {
    this.#request = request;
  }

  /** Keeps the first failure. */
  fail(error: unknown): undefined {
    this.failure ??= error;
  }

  /** Takes a part of the model's stream, and returns the chunk that shows it. */
  async add(part: LanguageModelV4StreamPart): Promise<UIMessageChunk | undefined> {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const { id, block } = this.#blocksOf(part.type).start(part);
        this.#content.push(block);
        return this.#show({ ...part, id });
      }
      case "text-delta":
      case "reasoning-delta": {
        if (part.delta !== "") this.#hasOutput = true;
        else if (part.type === "text-delta" && !part.providerMetadata) return undefined;
        const { delta, ...rest } = part;
        const id = this.#blocksOf(part.type).add(part, delta);
        return this.#show({ ...rest, id, text: delta });
      }
      case "text-end":
      case "reasoning-end":
        return this.#show({ ...part, id: this.#blocksOf(part.type).end(part) });
      case "tool-input-start": {
        const tool = this.#toolOf(part.toolName);
        return this.#show({
          ...part,
          dynamic: part.dynamic ?? tool?.type === "dynamic",
          title: tool?.title,
        });
      }
      case "tool-input-delta":
        this.#hasOutput ||= part.delta !== "";
        return this.#show(part);
      case "tool-call":
        this.#hasOutput = true;
        return this.#addCall(part);
      case "tool-approval-request": {
        const toolCall = this.#calls.findLast((call) => call.toolCallId === part.toolCallId);
        if (!toolCall) return this.fail(new Error("An approval is requested for an unknown call"));
        return this.#keep({ type: part.type, approvalId: part.approvalId, toolCall });
      }
      case "tool-result":
        return this.#addResult(part);
      case "file":
      case "reasoning-file": {
        this.#hasOutput = true;
        const { data, mediaType, providerMetadata } = part;
        const bytes = data.type === "data" ? data.data : await this.#download(data.url);
        const file = new DefaultGeneratedFile({ data: bytes, mediaType });
        return this.#keep({ type: part.type, file, ...(providerMetadata && { providerMetadata }) });
      }
      case "source":
      case "custom":
        return this.#keep(part);
      case "stream-start":
        this.#warnings = part.warnings;
        return undefined;
      case "finish":
        this.#hasEnded = true;
        this.#usage = asLanguageModelUsage(part.usage);
        this.#finishReason = part.finishReason.unified;
        if (part.finishReason.raw !== WINDOW_EXCEEDED) return undefined;
        return this.fail(new StreamProviderError({ message: WINDOW_EXCEEDED, statusCode: 400 }));
      case "error":
        this.#hasEnded = true;
        return this.fail(toError(part.error));
      default:
        return undefined;
    }
  }

  async finish(): Promise<Answer | { readonly failure: unknown }> {
    const { model, tools, signal } = this.#request;
    signal.throwIfAborted();
    if (!this.#hasOutput && !this.#hasEnded) this.fail(new NoOutputGeneratedError({}));
    if (this.failure !== undefined || this.#finishReason === "error") {
      return { failure: this.failure };
    }
    logWarnings({ warnings: this.#warnings, provider: model.provider, model: model.modelId });
    return {
      messages: await toResponseMessages({ content: this.#content, tools }),
      calls: this.#calls,
      usage: this.#usage,
      finishReason: this.#finishReason,
    };
  }

  async #addCall(toolCall: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>) {
    const { instructions, messages, tools, signal } = this.#request;
    const [large] = largeIntegersIn(toolCall.input);
    const parsed = await parseToolCall({
      toolCall: large ? { ...toolCall, input: quoteLargeIntegers(toolCall.input) } : toolCall,
      tools,
      repairToolCall: undefined,
      instructions,
      messages,
      abortSignal: signal,
    });
    const call = large ? withoutDigits(parsed, large.integer) : parsed;
    this.#calls.push(call);
    const chunk = this.#keep(call);
    if (call.invalid && !call.providerExecuted) {
      const { toolCallId, toolName, input, title } = call;
      const error = String(call.error);
      this.#content.push({
        type: "tool-error",
        ...{ toolCallId, toolName, input, error, dynamic: true },
        ...(title !== undefined && { title }),
      });
    }
    return chunk;
  }

  /** The result of a tool that the provider has run. */
  #addResult(part: Extract<LanguageModelV4StreamPart, { type: "tool-result" }>) {
    const { toolCallId, toolName, isError, result, dynamic, providerMetadata } = part;
    const call = this.#calls.findLast((each) => each.toolCallId === toolCallId);
    const input: unknown = call?.input;
    const common = {
      ...{ toolCallId, toolName, input, providerExecuted: true, dynamic: dynamic as true },
      ...(providerMetadata && { providerMetadata }),
    };
    return this.#keep(
      isError
        ? { type: "tool-error", ...common, error: result }
        : { type: "tool-result", ...common, output: result },
    );
  }

  async #download(url: URL): Promise<Uint8Array> {
    const abortSignal = this.#request.signal;
    const [file] = await downloadFile([{ url, isUrlSupportedByModel: false, abortSignal }]);
    if (!file) throw new Error("A generated file has no content");
    return file.data;
  }

  #keep(part: Content & Part): UIMessageChunk | undefined {
    this.#content.push(part);
    return this.#show(part);
  }

  #show(part: Part): UIMessageChunk | undefined {
    let shown = part;
    if (part.type === "text-start" || part.type === "text-delta" || part.type === "text-end") {
      this.#firstText ??= { id: part.id };
      // As the SDK does it, each delta of the first text repeats the newest metadata of its deltas.
      if (part.type === "text-delta" && part.id === this.#firstText.id) {
        this.#firstText.metadata = part.providerMetadata ?? this.#firstText.metadata;
        shown = { ...part, providerMetadata: this.#firstText.metadata };
      }
    }
    const onError = () => "The input is not valid for this tool";
    return toUIMessageChunk(shown, { tools: this.#request.tools, onError, sendSources: true });
  }

  #toolOf(name: string) {
    const { tools } = this.#request;
    return Object.hasOwn(tools, name) ? tools[name] : undefined;
  }

  #blocksOf(type: string): Blocks {
    return type.startsWith("text") ? this.#texts : this.#reasonings;
  }
}

/** Returns a call that is not made, because its tool would get another number. */
const withoutDigits = (call: TypedToolCall<ToolSet>, integer: string): TypedToolCall<ToolSet> => ({
  ...call,
  dynamic: true,
  invalid: true,
  error: `The integer ${integer.slice(0, MAX_SHOWN_DIGITS)} is too large to keep its digits: send it as text`,
});

/** Blocks of text or reasoning, by their ids. A provider may use the id of an ended block again. */
class Blocks {
  readonly #type: Block["type"];
  readonly #used = new Set<string>();
  /** By the provider's ids. */
  readonly #ids = new Map<string, string>();
  readonly #open = new Map<string, Block>();

  constructor(type: Block["type"]) {
    this.#type = type;
  }

  start({ id: given, providerMetadata }: Pick<Block, "providerMetadata"> & { id: string }) {
    const id = this.#used.has(given) ? generateId() : given;
    const block: Block = { type: this.#type, text: "", providerMetadata };
    this.#used.add(id);
    this.#ids.set(given, id);
    this.#open.set(id, block);
    return { id, block };
  }

  /** Returns the id of the block. */
  add(part: Pick<Block, "providerMetadata"> & { id: string }, text: string): string {
    const id = this.#ids.get(part.id) ?? part.id;
    const block = this.#open.get(id);
    if (!block) return id;
    block.text += text;
    block.providerMetadata = part.providerMetadata ?? block.providerMetadata;
    return id;
  }

  /** Returns the id of the block. */
  end(part: Pick<Block, "providerMetadata"> & { id: string }): string {
    const id = this.add(part, "");
    this.#open.delete(id);
    this.#ids.delete(part.id);
    return id;
  }
}

const STATUS_NAMES = ["statusCode", "status_code", "status", "code"];

/** Providers report an error within a stream in many forms. */
function toError(error: unknown): unknown {
  const outer = toRecord(error);
  if (!outer || error instanceof Error) return error;
  const details = toRecord(toRecord(outer.response)?.error) ?? toRecord(outer.error) ?? outer;
  if (typeof details.message !== "string") return error;
  const statusCode = STATUS_NAMES.flatMap((name) => [details[name], outer[name]])
    .map(Number)
    .find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  return new StreamProviderError({
    message: details.message,
    ...(statusCode !== undefined && { statusCode }),
    data: error,
  });
}

const toRecord = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null ? { ...value } : undefined;
