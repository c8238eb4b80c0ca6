/** Requests of the console to the API of its own origin, as any user of the API makes them. */
import { accessToken, renewToken } from "../_session/auth.ts";

/** A failure as a value: what the API said, or that it could not be reached. */
export interface ApiError {
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `x-error-code`, or `network` and `aborted` where there was no answer. */
  readonly code: string;
  /** One sentence to show. */
  readonly message: string;
  /** Dotted paths of the fields at fault, where the API names them. */
  readonly fields: readonly string[];
  readonly requestId: string | null;
}

export type ApiResult<T> =
  | { readonly ok: true; readonly data: T; readonly headers: Headers }
  | { readonly ok: false; readonly error: ApiError };

export interface ApiRequest {
  /** GET unless there is a body, then POST. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** `fetch` with the bearer, tried once more with a new one when the API refuses it. */
export async function fetchWithBearer(path: string, init: RequestInit = {}): Promise<Response> {
  const send = (token: string | null) => {
    const headers = new Headers(init.headers);
    if (token !== null) headers.set("authorization", `Bearer ${token}`);
    return fetch(path, { ...init, headers });
  };
  const response = await send(await accessToken());
  if (response.status !== 401) return response;
  const token = await renewToken();
  return token === null ? response : send(token);
}

/**
 * `T` is the output of the response's schema in the contract, by `import type`: the API is of this
 * origin and this build, so its answers are not parsed again.
 */
export async function api<T>(path: string, request: ApiRequest = {}): Promise<ApiResult<T>> {
  const { body, signal } = request;
  try {
    const response = await fetchWithBearer(path, {
      method: request.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    if (!response.ok) return { ok: false, error: describeRefusal(response, text) };
    const data: T = text === "" ? undefined : JSON.parse(text);
    return { ok: true, data, headers: response.headers };
  } catch (cause) {
    return { ok: false, error: describeFailure(cause) };
  }
}

/** The sentence of any of the five error families. Decisions, section 1. */
export function describeRefusal(response: Response, text: string): ApiError {
  const { status, headers } = response;
  const body = parseObject(text);
  const inner = body.error;
  const said =
    typeof inner === "object" && inner !== null && "message" in inner
      ? inner.message
      : (inner ?? body.message);
  const wait = headers.get("retry-after");
  const message =
    typeof said === "string" && said !== "" ? said : `The service answered with status ${status}`;
  return {
    status,
    code: headers.get("x-error-code") ?? "unknown",
    message: status === 429 && wait !== null ? `${message}. Try again in ${wait} s.` : message,
    fields: Array.isArray(body.missing_fields) ? body.missing_fields.map(String) : [],
    requestId: headers.get("x-request-id"),
  };
}

function describeFailure(cause: unknown): ApiError {
  const aborted = cause instanceof DOMException && cause.name === "AbortError";
  return {
    status: 0,
    code: aborted ? "aborted" : "network",
    message: aborted
      ? "The request was cancelled"
      : "The service cannot be reached. Check your connection and try again.",
    fields: [],
    requestId: null,
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
