/**
 * Connections to MCP servers, one for each list of tools and each call. A server is hostile: its addresses, its
 * answers in number and size, and its time are bounded here.
 */
import {
  Client,
  type FetchLike,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { fetch, type RequestInit as Init } from "undici";
import { allowsLoopback } from "../platform/config.ts";
import { codeOf } from "../platform/outbound/probe.ts";
import { AddressRefused, faultOfUrl, isLoopback } from "../platform/outbound/public-address.ts";
import { anywhere, publicOnly } from "../platform/outbound/public-only.ts";
import { traceRequest } from "../platform/outbound/vendor-fetch.ts";
import { streamOf } from "../platform/stream-of.ts";
import type { McpAccess } from "./store.ts";

/** The bytes that a connection may receive. */
const MAX_BYTES = 4 * 1024 * 1024;
/** The requests of a connection, because a server can make its client answer as often as it likes. */
const MAX_REQUESTS = 100;
const MAX_PAGES = 20;
const GOODBYE_MS = 2_000;

/** The server has sent too much. */
class TooMuch extends Error {
  override readonly name = "TooMuch";
}

/** Answers of tools are not validated: the schemas are the server's, and could block this process. */
const noValidation: jsonSchemaValidator = {
  getValidator: () => (input) => ({
    valid: true,
    // Whatever it is: nothing relies on its type.
    data: input as never,
    errorMessage: undefined,
  }),
};

/**
 * Connects to a server, and closes the connection after `use`.
 * @throws what the client of the protocol does, for `describeFailure`
 */
export async function withServer<T>(
  { url, headers, isLegacy }: McpAccess,
  signal: AbortSignal,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const transport = new Transport(new URL(url), {
    fetch: boundedFetch(signal),
    requestInit: { headers },
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
  });
  const client = new Client(
    { name: "agent-platform", version: "1.0.0" },
    {
      versionNegotiation: { mode: isLegacy ? "legacy" : "auto" },
      inputRequired: { autoFulfill: false },
      listMaxPages: MAX_PAGES,
      jsonSchemaValidator: noValidation,
    },
  );
  try {
    await client.connect(transport, { signal });
    return await use(client);
  } finally {
    // A server without an answer must not delay the result.
    void goodbye(transport).finally(() => client.close());
  }
}

const STREAM_ENDED = "The stream has ended without an answer";

class Transport extends StreamableHTTPClientTransport {
  /** Fails a request whose stream ends without its answer, for which the client would wait in vain. */
  override send(...[message, options]: Parameters<StreamableHTTPClientTransport["send"]>) {
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (Array.isArray(message) || !("method" in message) || !("id" in message)) return;
      const error = { code: ProtocolErrorCode.InternalError, message: STREAM_ENDED };
      this.onmessage?.({ jsonrpc: "2.0", id: message.id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

/** Returns what the server says of a request that it refuses; undefined for every other failure. */
export const refusalIn = (error: unknown): string | undefined =>
  error instanceof ProtocolError && error.message !== STREAM_ENDED ? error.message : undefined;

/** Ends the session, if the server has one. */
async function goodbye(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId) await transport.terminateSession().catch(() => {});
}

/** Returns a `fetch` for one connection, which stays within public addresses and the limits. */
function boundedFetch(signal: AbortSignal): FetchLike {
  const left = { bytes: MAX_BYTES, requests: MAX_REQUESTS };
  return async (input, init = {}) => {
    const url = new URL(input);
    const method = init.method ?? "GET";
    const headers = Object.fromEntries(new Headers(init.headers));
    // The stream of a server's own messages, which no one reads. An answer that was cut is continued.
    if (method === "GET" && headers.accept === "text/event-stream" && !headers["last-event-id"]) {
      return new Response(null, { status: 405 });
    }
    const fault = faultOfUrl(url, allowsLoopback("mcp"));
    if (fault !== null) throw new AddressRefused(fault);
    if (--left.requests < 0) throw new TooMuch("requests");
    const bound = method === "DELETE" ? AbortSignal.timeout(GOODBYE_MS) : signal;
    const response = await traceRequest("web", method, () =>
      fetch(url, {
        ...(init as Init),
        headers,
        redirect: "manual",
        signal: init.signal ? AbortSignal.any([init.signal, bound]) : bound,
        dispatcher: allowsLoopback("mcp") && isLoopback(url) ? anywhere : publicOnly,
      }),
    );
    const { status, statusText } = response;
    const chunks = async function* () {
      for await (const chunk of response.body ?? []) {
        left.bytes -= chunk.byteLength;
        // Leaving the loop cancels the body.
        if (left.bytes < 0) throw new TooMuch("bytes");
        yield chunk;
      }
    };
    const hasBody = response.body !== null && ![204, 205, 304].includes(status);
    return new Response(hasBody ? streamOf(chunks()) : null, {
      status,
      statusText,
      headers: Object.fromEntries(response.headers),
    });
  };
}

/** Describes why a server could not be used, without anything that it has sent. */
export function describeFailure(error: unknown, deadline: AbortSignal): string {
  if (deadline.aborted) return "The server did not answer in time";
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return "The server's address is not a public one";
    if (cause instanceof TooMuch) return "The server sends too much";
    if (cause instanceof UnauthorizedError) return "The server requires other credentials";
    if (cause instanceof SdkHttpError) {
      const { status } = cause;
      if (status === 401 || status === 403) {
        return `The server rejects the credentials (status ${status})`;
      }
      if (status >= 300 && status < 400) return "The server redirects to another address";
      return `The server answered with status ${status}`;
    }
    if ("code" in cause && cause.code === SdkErrorCode.RequestTimeout) {
      return "The server did not answer in time";
    }
  }
  const code = codeOf(error);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "The server's host does not resolve";
  if (code === "ECONNREFUSED") return "The server refuses connections";
  return "The server did not answer as the protocol says";
}
