/** Turns the parts of a script into answers of the chat completions API: a stream of events, or one body. */
import { HttpResponse } from "msw";
import type { CallRecord, CompletionBody, ScriptPart } from "./openai.ts";
import { profileOf, reasoningFieldOf } from "./strict-rules.ts";

export interface ScriptedCall {
  readonly parts: AsyncGenerator<ScriptPart>;
  readonly body: CompletionBody;
  readonly record: CallRecord;
  readonly abandoned: Promise<void>;
}

/** The first part decides between an HTTP error, a broken connection and a stream. */
export async function stream(call: ScriptedCall): Promise<Response> {
  const { value: first } = await call.parts.next();
  const failure = first && failureOf(first, call.record);
  if (failure) return failure;
  const events = eventsOf(first, call);
  const encoder = new TextEncoder();
  const sse = new ReadableStream({
    async pull(controller) {
      const { value, done } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: () => void events.return(),
  });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new HttpResponse(sse, { headers });
}

async function* eventsOf(
  first: ScriptPart | undefined,
  { parts, body, record, abandoned }: ScriptedCall,
): AsyncGenerator<string, void> {
  const id = `chatcmpl-${Math.random().toString(36).slice(2)}`;
  let claims: Claims = {};
  const event = (fields: object) => {
    const { model = body.model } = claims;
    const base = { id, object: "chat.completion.chunk", created: 0, model };
    return `data: ${JSON.stringify({ ...base, ...fields })}\n\n`;
  };
  const delta = (fields: object, finish: string | null = null) =>
    event({ choices: [{ index: 0, delta: fields, finish_reason: finish }] });

  let written = 0;
  let toolCalls = 0;
  let finish: string | undefined;
  for (let part = first; part; part = (await parts.next()).value) {
    if ("text" in part) {
      written += part.text.length;
      yield delta({ role: "assistant", content: part.text });
    } else if ("reasoning" in part) {
      written += part.reasoning.length;
      yield delta({ role: "assistant", [reasoningFieldOf(profileOf(body.model))]: part.reasoning });
    } else if ("tool" in part) {
      const { first: head, rest: pieces } = toolCallDeltas(part, toolCalls++);
      yield delta({ role: "assistant", tool_calls: [head] });
      if (part.between) await Promise.race([part.between(), abandoned]);
      for (const piece of pieces) yield delta({ tool_calls: [piece] });
      written += 10;
    } else if ("fail" in part) {
      record.outcome = "failed";
      yield `data: ${JSON.stringify({ error: errorOf(part) })}\n\n`;
      return;
    } else if ("cut" in part) {
      record.outcome = "cut";
      // Text already written reaches the client before the connection breaks.
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("The script breaks the connection");
    } else if ("raw" in part) {
      yield `data: ${part.raw}\n\n`;
    } else if ("hang" in part) {
      await abandoned;
    } else if ("claims" in part) {
      ({ claims } = part);
    } else {
      finish = part.finish;
    }
  }
  if (record.outcome === "abandoned") return;
  yield delta({}, finish ?? (toolCalls > 0 ? "tool_calls" : "stop"));
  record.usage = usageOf(body, written);
  yield event({ choices: [], usage: claims.usage ?? record.usage });
  record.outcome = "answered";
  yield "data: [DONE]\n\n";
}

export async function complete(call: ScriptedCall): Promise<Response> {
  const { parts, body, record, abandoned } = call;
  let content = "";
  let claims: Claims = {};
  const toolCalls: unknown[] = [];
  for await (const part of parts) {
    if ("text" in part) content += part.text;
    if ("tool" in part)
      toolCalls.push(toolCallDeltas({ ...part, pieces: 1 }, toolCalls.length).first);
    if ("hang" in part) await abandoned;
    if ("raw" in part) return HttpResponse.text(part.raw);
    if ("claims" in part) ({ claims } = part);
    const failure = failureOf(part, record);
    if (failure) return failure;
  }
  if (record.outcome === "running") record.outcome = "answered";
  const usage = usageOf(body, content.length);
  record.usage = usage;
  const message = {
    role: "assistant",
    content: content === "" ? null : content,
    refusal: null,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  const finish_reason = toolCalls.length > 0 ? "tool_calls" : "stop";
  return HttpResponse.json({
    id: "chatcmpl-fake",
    object: "chat.completion",
    created: 0,
    model: claims.model ?? body.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: claims.usage ?? usage,
  });
}

type Claims = Extract<ScriptPart, { claims: object }>["claims"];

function failureOf(part: ScriptPart, record: CallRecord): Response | undefined {
  if ("cut" in part) {
    record.outcome = "cut";
    return HttpResponse.error();
  }
  if ("fail" in part) {
    record.outcome = "failed";
    const { fail: status, headers } = part;
    return HttpResponse.json({ error: errorOf(part) }, { status, headers });
  }
}

const errorOf = ({ fail, message }: Extract<ScriptPart, { fail: number }>) => ({
  message: message ?? "The model failed",
  type: "server_error",
  code: fail,
});

/** The first delta names the call; all arguments are in it unless they come in pieces. */
function toolCallDeltas(part: Extract<ScriptPart, { tool: string }>, index: number) {
  const text = part.rawInput ?? JSON.stringify(part.input);
  const pieces = part.pieces ?? 1;
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const slices = Array.from({ length: pieces }, (_, n) => text.slice(n * size, (n + 1) * size));
  const id = part.id ?? `call_${Math.random().toString(36).slice(2)}`;
  const call = { name: part.tool, arguments: slices[0] ?? "" };
  return {
    first: {
      ...{ index, id, type: "function", function: call },
      ...(part.signature && { extra_content: { google: { thought_signature: part.signature } } }),
    },
    rest: slices.slice(1).map((slice) => ({ index, function: { arguments: slice } })),
  };
}

/** Three and a half characters of the Latin alphabet are a token, and each character of another one. */
export function countTokens({ messages, tools = [] }: Pick<CompletionBody, "messages" | "tools">) {
  const text = JSON.stringify([messages, tools]);
  const wide = text.match(/[^\0-\u024f]/g)?.length ?? 0;
  return Math.ceil((text.length - wide) / 3.5) + wide;
}

function usageOf(body: CompletionBody, written: number) {
  const prompt_tokens = countTokens(body);
  const completion_tokens = Math.ceil(written / 4);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
