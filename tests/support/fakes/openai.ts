/**
 * An OpenAI-compatible server on loopback whose answers are scripted: what stands where a model
 * vendor would. A script is chosen by `[script:name]` in the newest user text, so that many tests
 * can share one server; without one the built-in scripts below are followed.
 *
 * - `[deltas:200]`: the answer is 200 text deltas
 * - `[tools:10]`: before the answer, 10 model calls that each run `echo <n>` with the tool bash
 * - otherwise the newest user text comes back
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ScriptPart =
  | { readonly text: string }
  | { readonly reasoning: string }
  /**
   * Several in a row are called at once. `pieces`: the arguments come in so many deltas; `between`
   * is awaited after the first of them.
   */
  | {
      readonly tool: string;
      readonly input: unknown;
      readonly id?: string;
      readonly pieces?: number;
      readonly between?: () => Promise<void>;
    }
  /** Arguments as they are, valid JSON or not. */
  | {
      readonly tool: string;
      readonly rawInput: string;
      readonly id?: string;
      readonly pieces?: number;
    }
  /** As the first part: an HTTP error. Later: an error event in the stream. */
  | { readonly fail: number; readonly message?: string; readonly headers?: Record<string, string> }
  /** The connection breaks here. */
  | { readonly cut: true }
  /** Silence from here on, until the client gives up or the server closes. */
  | { readonly hang: true }
  | { readonly finish: "stop" | "length" | "content_filter" };

interface ScriptCall {
  readonly model: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly messages: readonly ChatMessage[];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  readonly userText: string;
  /** How many model calls of this turn went before: 0 for the first. */
  readonly step: number;
  /** Contents of the tool messages after the newest user message. */
  readonly toolResults: readonly string[];
  /** Resolves when the client goes away before the answer is complete. */
  readonly abandoned: Promise<void>;
}

export type Script = (call: ScriptCall) => Iterable<ScriptPart> | AsyncIterable<ScriptPart>;

interface CallRecord extends Omit<ScriptCall, "abandoned"> {
  readonly script: string | undefined;
  outcome: "running" | "answered" | "failed" | "cut" | "abandoned";
}

export interface FakeOpenAI {
  /** For `OPENAI_BASE_URL`. */
  readonly url: string;
  /** Every chat completion that was asked for, oldest first. */
  readonly calls: readonly CallRecord[];
  /** Those whose newest user text named this script. */
  callsOf(name: string): readonly CallRecord[];
  script(name: string, script: Script): void;
  /** Breaks every connection and ends. */
  close(): Promise<void>;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
}

/** A place in a script where it waits for the test. */
export interface Gate {
  /** In the script: `await gate.pass()`. */
  pass(): Promise<void>;
  /** In the test: resolves once the script stands at the gate. */
  readonly reached: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    pass() {
      reached.resolve();
      return opened.promise;
    },
    reached: reached.promise,
    open: () => opened.resolve(),
  };
}

/** `count` deltas: "0 ", "1 ", … */
export function* deltas(count: number): Generator<ScriptPart> {
  for (let n = 0; n < count; n++) yield { text: `${n} ` };
}

const builtIn: Script = function* ({ userText, step }) {
  const tools = numberIn(userText, "tools");
  if (step < tools) yield { tool: "bash", input: { command: `echo ${step + 1}` } };
  else if (/\[deltas:\d+\]/.test(userText)) yield* deltas(numberIn(userText, "deltas"));
  else yield { text: tools > 0 ? "Done." : `You said: ${userText}` };
};

const numberIn = (text: string, name: string): number =>
  Number(new RegExp(`\\[${name}:(\\d+)\\]`).exec(text)?.[1] ?? 0);

export async function startFakeOpenAI({
  port = 0,
  models = ["fake-model", "fake-small"],
} = {}): Promise<FakeOpenAI> {
  const scripts = new Map<string, Script>();
  const calls: CallRecord[] = [];

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(`The script failed: ${error}`);
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://fake").pathname;
    if (request.method === "GET" && path === "/v1/models") {
      return sendJson(response, 200, {
        object: "list",
        data: models.map((id) => ({ id, object: "model", created: 0, owned_by: "fake" })),
      });
    }
    if (request.method !== "POST" || path !== "/v1/chat/completions") {
      return sendJson(response, 404, { error: { message: "Not found" } });
    }
    const body = JSON.parse(await readText(request));
    const abandoned = new Promise<void>((resolve) => {
      response.on("close", () => {
        if (!response.writableFinished) resolve();
      });
    });
    const call = describeCall(body, request, abandoned);
    const name = /\[script:([\w-]+)\]/.exec(call.userText)?.[1];
    const { abandoned: _, ...known } = call;
    const record: CallRecord = { ...known, script: name, outcome: "running" };
    calls.push(record);
    const script = name === undefined ? builtIn : (scripts.get(name) ?? builtIn);
    record.outcome = body.stream
      ? await stream(script(call), response, body, abandoned)
      : await complete(script(call), response, body, abandoned);
  }

  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    calls,
    callsOf: (name) => calls.filter((call) => call.script === name),
    script: (name, script) => void scripts.set(name, script),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Parts = Iterable<ScriptPart> | AsyncIterable<ScriptPart>;
type Outcome = Exclude<CallRecord["outcome"], "running">;

/** Ends early when the client goes away, also while the script stands at a gate. */
async function* untilAbandoned(parts: Parts, abandoned: Promise<void>): AsyncGenerator<ScriptPart> {
  const iterator =
    Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  const gone = abandoned.then(() => "gone" as const);
  for (;;) {
    const next = await Promise.race([iterator.next(), gone]);
    if (next === "gone" || next.done) return;
    yield next.value;
  }
}

async function stream(
  parts: Parts,
  response: ServerResponse,
  body: { model: string; messages: unknown },
  abandoned: Promise<void>,
): Promise<Outcome> {
  const base = {
    id: `chatcmpl-${Math.random().toString(36).slice(2)}`,
    object: "chat.completion.chunk",
    created: 0,
    model: body.model,
  };
  const send = (event: object): void => {
    if (!response.headersSent) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    }
    response.write(`data: ${JSON.stringify({ ...base, ...event })}\n\n`);
  };
  const sendDelta = (delta: object, finish: string | null = null): void =>
    send({ choices: [{ index: 0, delta, finish_reason: finish }] });

  let gone = false;
  abandoned.then(() => {
    gone = true;
  });
  let written = 0;
  let toolCalls = 0;
  let finish: string | undefined;
  for await (const part of untilAbandoned(parts, abandoned)) {
    if ("text" in part) {
      written += part.text.length;
      sendDelta({ role: "assistant", content: part.text });
    } else if ("reasoning" in part) {
      written += part.reasoning.length;
      sendDelta({ role: "assistant", reasoning_content: part.reasoning });
    } else if ("tool" in part) {
      const index = toolCalls++;
      const { first, rest } = toolCallDeltas(part, index);
      sendDelta({ role: "assistant", tool_calls: [first] });
      if ("between" in part) await Promise.race([part.between?.(), abandoned]);
      for (const delta of rest) sendDelta({ tool_calls: [delta] });
      written += 10;
    } else if ("fail" in part) {
      const error = {
        message: part.message ?? "The model failed",
        type: "server_error",
        code: part.fail,
      };
      if (!response.headersSent) {
        sendJson(response, part.fail, { error }, part.headers);
      } else {
        response.end(`data: ${JSON.stringify({ error })}\n\n`);
      }
      return "failed";
    } else if ("cut" in part) {
      // What was written is on its way before the socket breaks.
      await new Promise((resolve) => setImmediate(resolve));
      response.destroy();
      return "cut";
    } else if ("hang" in part) {
      response.flushHeaders();
      await abandoned;
    } else {
      finish = part.finish;
    }
  }
  if (gone) return "abandoned";
  sendDelta({}, finish ?? (toolCalls > 0 ? "tool_calls" : "stop"));
  send({ choices: [], usage: usageOf(body.messages, written) });
  response.end("data: [DONE]\n\n");
  return "answered";
}

async function complete(
  parts: Parts,
  response: ServerResponse,
  body: { model: string; messages: unknown },
  abandoned: Promise<void>,
): Promise<Outcome> {
  let content = "";
  const toolCalls: unknown[] = [];
  for await (const part of untilAbandoned(parts, abandoned)) {
    if ("text" in part) content += part.text;
    if ("tool" in part)
      toolCalls.push(toolCallDeltas({ ...part, pieces: 1 }, toolCalls.length).first);
    if ("hang" in part) await abandoned;
    if ("cut" in part) {
      response.destroy();
      return "cut";
    }
    if ("fail" in part) {
      sendJson(
        response,
        part.fail,
        { error: { message: part.message ?? "The model failed" } },
        part.headers,
      );
      return "failed";
    }
  }
  sendJson(response, 200, {
    id: "chatcmpl-fake",
    object: "chat.completion",
    created: 0,
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: content === "" ? null : content,
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
        },
        finish_reason: toolCalls.length > 0 ? "tool_calls" : "stop",
      },
    ],
    usage: usageOf(body.messages, content.length),
  });
  return "answered";
}

/** The first delta names the call; all arguments are in it unless they come in pieces. */
function toolCallDeltas(part: Extract<ScriptPart, { tool: string }>, index: number) {
  const text = "rawInput" in part ? part.rawInput : JSON.stringify(part.input);
  const pieces = part.pieces ?? 1;
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const slices = Array.from({ length: pieces }, (_, n) => text.slice(n * size, (n + 1) * size));
  const id = part.id ?? `call_${Math.random().toString(36).slice(2)}`;
  return {
    first: {
      index,
      id,
      type: "function",
      function: { name: part.tool, arguments: slices[0] ?? "" },
    },
    rest: slices.slice(1).map((slice) => ({ index, function: { arguments: slice } })),
  };
}

function describeCall(
  body: { model: string; messages: ChatMessage[]; tools?: { function: { name: string } }[] },
  request: IncomingMessage,
  abandoned: Promise<void>,
): ScriptCall {
  const { messages } = body;
  const newest = messages.findLastIndex((message) => message.role === "user");
  const later = messages.slice(newest + 1);
  return {
    model: body.model,
    headers: request.headers,
    messages,
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    userText: textOf(messages[newest]?.content),
    step: later.filter((message) => message.role === "assistant" && message.tool_calls).length,
    toolResults: later
      .filter((message) => message.role === "tool")
      .map((message) => textOf(message.content)),
    abandoned,
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("\n");
}

function usageOf(messages: unknown, written: number) {
  const prompt = Math.ceil(JSON.stringify(messages).length / 4);
  const completion = Math.ceil(written / 4);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
