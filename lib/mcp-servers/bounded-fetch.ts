/** Requests to an MCP server and its authorization server, within bounds, and why they fail. */
import {
  type FetchLike,
  InsufficientScopeError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { quoteLargeIntegers } from "@platform/kit/large-integers";
import { codeOf } from "@platform/kit/outbound/probe";
import { AddressRefused, faultOfUrl, isLoopback } from "@platform/kit/outbound/public-address";
import { anywhere, publicOnly } from "@platform/kit/outbound/public-only";
import { traceRequest } from "@platform/kit/outbound/vendor-fetch";
import { streamOf } from "@platform/kit/stream-of";
import { fetch, type RequestInit as Init } from "undici";
import { allowsLoopback } from "../platform/config.ts";

/** The bytes that a connection may receive. */
const MAX_BYTES = 4 * 1024 * 1024;
/** The requests of a connection, because a server can make its client answer as often as it likes. */
const MAX_REQUESTS = 100;
const CLOSE_TIMEOUT_MS = 2_000;

/** Returns whether a request opens the stream of a server's own messages, and does not continue an answer. */
export function isOwnStream(init: Parameters<FetchLike>[1] = {}): boolean {
  const headers = new Headers(init.headers);
  const isStream = headers.get("accept") === "text/event-stream";
  return (init.method ?? "GET") === "GET" && isStream && !headers.has("last-event-id");
}

/** Far more than the metadata and the tokens of an authorization server have. */
export const MAX_OAUTH_BYTES = 64 * 1024;

/** The account has to connect the server, or to do so again. */
export class NotConnected extends Error {
  override readonly name = "NotConnected";
}

/** The authorization server lacks what protects an authorization from others. Its message may be shown. */
export class UnsafeAuthorization extends Error {
  override readonly name = "UnsafeAuthorization";
}

/** The server has sent too much. */
class TooMuch extends Error {
  override readonly name = "TooMuch";
}

/**
 * Returns a `fetch` for one connection, which stays within public addresses and the limits.
 * @param maxAnswerBytes of each answer
 */
export function boundedFetch(signal: AbortSignal, maxAnswerBytes = MAX_BYTES): FetchLike {
  const left = { bytes: MAX_BYTES, requests: MAX_REQUESTS, streams: 1 };
  return async (input, init = {}) => {
    const url = new URL(input);
    const method = init.method ?? "GET";
    const headers = Object.fromEntries(new Headers(init.headers));
    // It is not opened again when it ends.
    if (isOwnStream(init) && --left.streams < 0) return new Response(null, { status: 405 });
    const fault = faultOfUrl(url, allowsLoopback("mcp"));
    if (fault !== null) throw new AddressRefused(fault);
    if (--left.requests < 0) throw new TooMuch("requests");
    const bound = method === "DELETE" ? AbortSignal.timeout(CLOSE_TIMEOUT_MS) : signal;
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
      let answerBytes = 0;
      for await (const chunk of response.body ?? []) {
        left.bytes -= chunk.byteLength;
        answerBytes += chunk.byteLength;
        // Leaving the loop cancels the body.
        if (left.bytes < 0 || answerBytes > maxAnswerBytes) throw new TooMuch("bytes");
        yield chunk;
      }
    };
    const hasBody = response.body !== null && ![204, 205, 304].includes(status);
    const isCall = typeof init.body === "string" && init.body.includes('"method":"tools/call"');
    const bytes = isCall ? withDigits(chunks()) : chunks();
    return new Response(hasBody ? streamOf(bytes) : null, {
      status,
      statusText,
      headers: Object.fromEntries(response.headers),
    });
  };
}

/** The fields of server-sent events without JSON. */
const PLAIN_LINE = /^(?:id|event|retry)?:/;

/** Yields the result of a call with the digits of its integers: no text of JSON contains a line feed. */
async function* withDigits(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const quoted = (text: string) => {
    const lines = text.split("\n");
    return encoder.encode(
      lines.map((line) => (PLAIN_LINE.test(line) ? line : quoteLargeIntegers(line))).join("\n"),
    );
  };
  const line: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) yield quoted(line.splice(0).join("") + text.slice(0, end));
    line.push(text.slice(end));
  }
  yield quoted(line.join("") + decoder.decode());
}

/** Returns the scope that a server has required of a request; undefined for every other failure. */
export function scopeIn(error: unknown): string | undefined {
  let cause = error;
  while (cause instanceof Error && !(cause instanceof InsufficientScopeError)) cause = cause.cause;
  return cause instanceof InsufficientScopeError ? cause.requiredScope : undefined;
}

/** Describes why a server could not be used, without anything that it has sent. */
export function describeFailure(error: unknown, deadline: AbortSignal): string {
  if (deadline.aborted) return "The server did not answer in time";
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return "The server's address is not a public one";
    if (cause instanceof TooMuch) return "The server sends too much";
    if (cause instanceof UnsafeAuthorization) return cause.message;
    if (cause instanceof NotConnected)
      return "The server is not connected: connect it in the console";
    if (cause instanceof InsufficientScopeError)
      return "The server requires more permissions: connect it again in the console";
    if (cause instanceof UnauthorizedError) return "The server requires other credentials";
    if (cause instanceof SdkHttpError) {
      const { status } = cause;
      if (status === 401 || status === 403) {
        return `The server rejects the credentials (status ${status})`;
      }
      if (status >= 300 && status < 400) return "The server redirects to another address";
      return `The server answered with status ${status}`;
    }
    if ("code" in cause && cause.code === SdkErrorCode.UnsupportedResultType) {
      return "The server asked for input, which agents cannot give";
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
