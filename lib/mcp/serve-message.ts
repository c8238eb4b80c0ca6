/** Answers messages of the Model Context Protocol, without sessions. */
import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from "@modelcontextprotocol/server";
import { type AppError, appError, type ErrorCode } from "@platform/endpoint/contract/app-error";
import { readBytes } from "@platform/kit/outbound/vendor-fetch";
import { streamOf } from "@platform/kit/stream-of";
import type { Logger } from "pino";
import type { McpMessage } from "./contract.ts";

/** Calls the endpoint of a tool; null for an unknown name. */
export type CallTool = (
  name: string,
  input: Readonly<Record<string, unknown>>,
) => Promise<Response> | null;

const INSTRUCTIONS =
  "startRun answers one prompt in a session, chat and sandbox of its own. To converse: createSession, " +
  "provisionSandbox, then startTurn for each message. Both only start a run: read it with getRun until " +
  "it has ended; its answer is the last message of getChat, its files are in listSandboxFiles and " +
  "readSandboxFile.";

/** The codes with which the protocol itself refuses a message. */
const codeOf: Readonly<Record<number, ErrorCode>> = { 400: "invalid_request", 404: "not_found" };

interface Asked {
  readonly log: Logger;
  readonly request: Request;
  /** The parsed body of the request: a message, or a batch of them. */
  readonly message: McpMessage | readonly McpMessage[];
  readonly tools: readonly Tool[];
  readonly call: CallTool;
}

/** The last revision with batches, and the one of a request that names none. */
const BATCH_REVISION = "2025-03-26";

/** Resolves when the message is accepted. A call continues while the response streams. Errors: 400. */
export async function serveMessage(asked: Asked): Promise<Response | AppError> {
  const { message, request } = asked;
  if (!isBatch(message)) return serveOne(asked, message);
  const revision = request.headers.get("mcp-protocol-version") ?? BATCH_REVISION;
  if (revision !== BATCH_REVISION) {
    return appError("invalid_request", `Revision ${revision} of the protocol has no batches`);
  }
  if (message.some(({ method }) => method === "initialize")) {
    return appError("invalid_request", "initialize must not be part of a batch");
  }
  const headers = { "content-type": "text/event-stream" };
  if (message.every(({ id }) => id === undefined)) return new Response(null, { status: 202 });
  return new Response(streamOf(answersOf(asked, message)), { headers });
}

const isBatch = (message: Asked["message"]): message is readonly McpMessage[] =>
  Array.isArray(message);

/** Yields the events of the answers, one message after the other. */
async function* answersOf(asked: Asked, batch: readonly McpMessage[]): AsyncGenerator<Uint8Array> {
  for (const message of batch) {
    if (asked.request.signal.aborted) return;
    const response = await serveOne(asked, message);
    if (!response.body) continue;
    if (response.status < 400) yield* response.body;
    else yield new TextEncoder().encode(`event: message\ndata: ${await response.text()}\n\n`);
  }
}

async function serveOne(
  { request, tools, call, log }: Asked,
  message: McpMessage,
): Promise<Response> {
  // As a stream the response starts before the call, which a proxy would otherwise find too long, and
  // which must not wait for the slot that this request holds. Nothing changes that one could listen to.
  const handler = createMcpHandler(() => createServer(tools, call, log), {
    responseMode: "sse",
    maxSubscriptions: 0,
  });
  const headers = new Headers(request.headers);
  // Bodies of this API are JSON whatever their headers say.
  headers.set("content-type", "application/json");
  headers.set("accept", "application/json, text/event-stream");
  const { method, url, signal } = request;
  const response = await handler.fetch(new Request(url, { method, headers, signal }), {
    parsedBody: message,
  });
  if (response.status < 400) return response;
  const code = codeOf[response.status];
  if (code === undefined) throw new Error(`The MCP server answered ${response.status}`);
  response.headers.set("x-error-code", code);
  return response;
}

function createServer(tools: readonly Tool[], call: CallTool, log: Logger): Server {
  const server = new Server(
    { name: "agent-platform", title: "Agent Platform", version: "1.0.0" },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: structuredClone([...tools]) }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const response = call(params.name, params.arguments ?? {});
    if (!response) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool");
    // The protocol would return the text of any error to the caller.
    return response.then(toolResult).catch((error: unknown) => {
      log.error({ err: error, tool: params.name }, "tool");
      return textResult("Internal server error", true);
    });
  });
  return server;
}

/** Results go into the context of a model, to which more than this is of no use. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** A result that is a text. */
const textResult = (text: string, isError = false): CallToolResult => ({
  content: [{ type: "text", text }],
  isError,
});

/**
 * Resolves to the body as text, or as a resource when it is bytes. The error of an endpoint is a result
 * with `isError`. A turn that streams continues without its reader: the result is the id of its run.
 */
async function toolResult(response: Response): Promise<CallToolResult> {
  const { status, headers } = response;
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    await response.body?.cancel();
    return textResult(JSON.stringify({ runId: headers.get("x-workflow-run-id") }));
  }
  const bytes = await readBytes(response.body, MAX_RESULT_BYTES);
  if (bytes === null) {
    return textResult(
      `The answer is larger than ${MAX_RESULT_BYTES} bytes: read it over HTTP`,
      true,
    );
  }
  if (type === "" || /^(?:text\/|application\/json)/.test(type)) {
    return textResult(bytes.toString("utf8"), status >= 400);
  }
  const resource = { uri: "response:body", mimeType: type, blob: bytes.toString("base64") };
  return { content: [{ type: "resource", resource }] };
}
