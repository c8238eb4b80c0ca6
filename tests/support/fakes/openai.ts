/**
 * An OpenAI-compatible server on loopback with scripted answers. A script is selected by
 * `[script:name]` in the newest user text, so many tests can share one server; without one the
 * built-in scripts below are followed.
 *
 * - `[deltas:200]`: the answer is 200 text deltas
 * - `[tools:10]`: before the answer, 10 model calls that each run `echo <n>` with the tool bash
 * - the tool `read_code`, where it is offered, is called, and the answer is its result
 * - otherwise the newest user text comes back
 *
 * The models `fake-64k` and `fake-hidden-64k` reject requests of more than 64,000 tokens, as real ones do;
 * only the first is listed with its window. `fake-pdf` is listed as one that reads PDFs, and
 * `fake-vision` as one that reads images. All requests must follow the rules that all vendors have in common; a model
 * such as `fake-groq`, which is not listed, has the rules of one vendor.
 */
import { once } from "node:events";
import { withoutFacts } from "@platform/agent/facts";
import { NOTE } from "@platform/agent/prompt";
import { HttpResponse, http } from "msw";
import { complete, countTokens, stream } from "./openai-answers.ts";
import { profileOf, refusalOf } from "./strict-rules.ts";
import { requireHeader, serveHandlers } from "./vendor-server.ts";

export type ScriptPart =
  | { readonly text: string }
  | { readonly reasoning: string }
  /**
   * Several in a row are called at once. `rawInput`: the arguments as they are, valid JSON or not;
   * `pieces`: they come in so many deltas; `between` is awaited after the first of them.
   */
  | {
      readonly tool: string;
      readonly input?: unknown;
      readonly rawInput?: string;
      readonly id?: string;
      readonly pieces?: number;
      readonly between?: () => Promise<void>;
      /** With which the vendor signs the call. */
      readonly signature?: string;
    }
  /** As the first part: an HTTP error. Later: an error event in the stream. */
  | { readonly fail: number; readonly message?: string; readonly headers?: Record<string, string> }
  /** An event of the stream as it is, or the whole body of another answer. */
  | { readonly raw: string }
  /** The connection breaks here. */
  | { readonly cut: true }
  /** Silence from here on, until the client gives up or the server closes. */
  | { readonly hang: true }
  | { readonly finish: string }
  /** The metadata of the answer from here on, in place of the truth. */
  | { readonly claims: { readonly model?: string; readonly usage?: object } };

interface ScriptCall {
  readonly model: string;
  readonly cacheKey: string | undefined;
  readonly effort: string | undefined;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  readonly maxCompletionTokens: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: readonly ChatMessage[];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  /** The schemas of their inputs by name. */
  readonly toolSchemas: Readonly<Record<string, unknown>>;
  readonly userText: string;
  /** How many model calls of this turn went before: 0 for the first. */
  readonly step: number;
  /** Contents of the tool messages after the newest user message. */
  readonly toolResults: readonly string[];
  /** Resolves when the client goes away before the answer is complete. */
  readonly abandoned: Promise<void>;
}

export type Script = (call: ScriptCall) => Iterable<ScriptPart> | AsyncIterable<ScriptPart>;

export interface CallRecord extends Omit<ScriptCall, "abandoned"> {
  readonly script: string | undefined;
  outcome: "running" | "answered" | "failed" | "cut" | "abandoned";
  /** The reported usage, once it is answered. */
  usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

export type FakeOpenAI = Awaited<ReturnType<typeof startFakeOpenAI>>;

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
}

export type Gate = ReturnType<typeof gate>;

/** Creates a place in a script where it waits for the test. */
export function gate() {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    /** In the script: `await gate.pass()`. */
    pass(): Promise<void> {
      reached.resolve();
      return opened.promise;
    },
    /** In the test: resolves once the script stands at the gate. */
    reached: reached.promise,
    open: () => opened.resolve(),
  };
}

/** `count` deltas: "0 ", "1 ", … */
export function* deltas(count: number): Generator<ScriptPart> {
  for (let n = 0; n < count; n++) yield { text: `${n} ` };
}

export const builtIn: Script = function* ({ userText, step, tools: offered, toolResults }) {
  const tools = numberIn(userText, "tools");
  if (offered.includes("read_code")) {
    if (step === 0) yield { tool: "read_code", input: {} };
    else yield { text: toolResults.join() };
  } else if (step < tools) yield { tool: "bash", input: { command: `echo ${step + 1}` } };
  else if (/\[deltas:\d+\]/.test(userText)) yield* deltas(numberIn(userText, "deltas"));
  else yield { text: tools > 0 ? "Done." : `You said: ${userText}` };
};

const numberIn = (text: string, name: string): number =>
  Number(new RegExp(`\\[${name}:(\\d+)\\]`).exec(text)?.[1] ?? 0);

/** Returns the name of the script that the newest user text asks for; a summary of earlier ones may precede it. */
export const scriptIn = ({ messages }: CompletionBody): string | undefined =>
  [...newestText(messages.findLast(isOfUser)).matchAll(/\[script:([\w-]+)\]/g)].at(-1)?.[1];

/** Returns the text of a message of the user. One that follows a refused turn is joined with the message before. */
const newestText = (message: ChatMessage | undefined): string =>
  textOf(message?.content)
    .split(/\n\n(?=\[Facts from the platform)/)
    .at(-1) ?? "";

const isOfUser = ({ role, content }: ChatMessage): boolean =>
  role === "user" && !textOf(content).startsWith(NOTE);

/**
 * @param apiKey the key that every request needs. Default: none
 * @param options.isStrict whether requests must follow the rules of vendors. Default: true
 */
export async function startFakeOpenAI(
  apiKey?: string,
  { isStrict = true }: { readonly isStrict?: boolean } = {},
) {
  const scripts = new Map<string, Script>();
  const calls: CallRecord[] = [];
  const rejected: string[] = [];
  const refused: { model: string; message: string }[] = [];

  const refuse = (status: number, message: string) =>
    HttpResponse.json({ error: { message, type: "invalid_request_error" } }, { status });
  const guard = requireHeader("authorization", `Bearer ${apiKey}`, () =>
    refuse(401, "Incorrect API key provided"),
  );
  const server = await serveHandlers([
    // For the router of a server that test files share.
    http.get("/scripts/:name", ({ params }) =>
      HttpResponse.text("", { status: scripts.has(String(params.name)) ? 200 : 404 }),
    ),
    ...(apiKey === undefined ? [] : [guard]),
    http.get("/v1/models", () => {
      const entry = { object: "model", created: 0, owned_by: "fake" };
      const data = [
        { id: "fake-model", ...entry, max_model_len: 128_000 },
        { id: "fake-small", ...entry },
        { id: "fake-64k", ...entry, max_model_len: 64_000 },
        { id: "fake-hidden-64k", ...entry },
        { id: "fake-pdf", ...entry, architecture: { input_modalities: ["text", "file"] } },
        { id: "fake-vision", ...entry, architecture: { input_modalities: ["text", "image"] } },
      ];
      return HttpResponse.json({ object: "list", data });
    }),
    http.post("/v1/chat/completions", async ({ request }) => {
      const body = (await request.json()) as CompletionBody;
      if (!body.model) return refuse(400, "you must provide a model parameter");
      const refusal = isStrict && (await refusalOf(body, profileOf(body.model)));
      if (refusal) {
        refused.push({ model: body.model, message: await refusal.clone().text() });
        return refusal;
      }
      const window = /64k/.test(body.model) ? 64_000 : Number.POSITIVE_INFINITY;
      const tokens = countTokens(body);
      if (tokens > window) {
        rejected.push(body.model);
        const said = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`;
        return refuse(400, said);
      }
      const call = describeCall(body, request);
      const name = scriptIn(body);
      const { abandoned, ...known } = call;
      const record: CallRecord = { ...known, script: name, outcome: "running" };
      calls.push(record);
      abandoned.then(() => {
        if (record.outcome === "running") record.outcome = "abandoned";
      });
      const script = scripts.get(name ?? "") ?? builtIn;
      const parts = untilAbandoned(script(call), abandoned);
      return (body.stream ? stream : complete)({ parts, body, record, abandoned });
    }),
  ]);
  return {
    ...server,
    /** For `OPENAI_BASE_URL`. */
    url: `${server.origin}/v1`,
    /** Every chat completion that was asked for, oldest first. */
    calls: calls as readonly CallRecord[],
    /** The models of the requests that exceeded their context, oldest first. */
    rejected: rejected as readonly string[],
    /** The requests that broke a rule, oldest first. */
    refused: refused as readonly { readonly model: string; readonly message: string }[],
    /** Those whose newest user text named this script. */
    callsOf: (name: string): readonly CallRecord[] => calls.filter(({ script }) => script === name),
    script: (name: string, script: Script) => void scripts.set(name, script),
  };
}

/** The fields of a request that answers depend on. */
export interface CompletionBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly prompt_cache_key?: string;
  readonly reasoning_effort?: string;
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly parameters?: unknown };
  }[];
}

/** Ends early when the client disconnects, even while the script waits at a gate. */
async function* untilAbandoned(
  parts: ReturnType<Script>,
  abandoned: Promise<void>,
): AsyncGenerator<ScriptPart> {
  const iterator =
    Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  const gone = abandoned.then(() => "gone" as const);
  for (;;) {
    const next = await Promise.race([iterator.next(), gone]);
    if (next === "gone" || next.done) return;
    yield next.value;
  }
}

function describeCall(body: CompletionBody, request: Request): ScriptCall {
  const { messages } = body;
  const newest = messages.findLastIndex(isOfUser);
  const later = messages.slice(newest + 1);
  return {
    model: body.model,
    cacheKey: body.prompt_cache_key,
    effort: body.reasoning_effort,
    temperature: body.temperature,
    maxTokens: body.max_tokens,
    maxCompletionTokens: body.max_completion_tokens,
    headers: Object.fromEntries(request.headers),
    messages,
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    toolSchemas: Object.fromEntries(
      (body.tools ?? []).map((tool) => [tool.function.name, tool.function.parameters]),
    ),
    userText: withoutFacts(newestText(messages[newest])),
    step: later.filter((message) => message.role === "assistant" && message.tool_calls).length,
    toolResults: later
      .filter((message) => message.role === "tool")
      .map((message) => textOf(message.content)),
    abandoned: request.signal.aborted
      ? Promise.resolve()
      : once(request.signal, "abort").then(() => {}),
  };
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("\n");
}
