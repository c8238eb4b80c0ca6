/** The console's requests to the API. They use its own origin and no private endpoint. */
import type { z } from "zod";
import { accessToken, renewToken } from "../_session/auth.ts";
import { describeError, unreachable } from "./describe-error.ts";

/** The body of a contract's successful response. */
export type Answer<C extends { readonly responses: object }> = {
  [S in keyof C["responses"] & (200 | 201 | 202)]: C["responses"][S] extends {
    readonly schema: infer T extends z.ZodType;
  }
    ? z.output<T>
    : never;
}[keyof C["responses"] & (200 | 201 | 202)];

export interface ApiError {
  /** The HTTP status; 0 when there was no response. */
  readonly status: number;
  /** `x-error-code`, or `network` or `aborted` when there was no response. */
  readonly code: string;
  /** The sentence to show; never a text of the API. */
  readonly message: string;
  /** Dotted paths of the invalid fields, such as `images.0`. */
  readonly fields: readonly string[];
  readonly requestId: string | null;
}

export type ApiResult<T> =
  | { readonly ok: true; readonly data: T; readonly headers: Headers }
  | { readonly ok: false; readonly error: ApiError };

export interface ApiRequest {
  /** Defaults to GET without a body and to POST with one. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends a request with the access token, and once more with a new one if the API refuses the first. */
export async function fetchSignedIn(request: Request): Promise<Response> {
  const { url, method, headers, signal } = request;
  const body = (await request.text()) || null;
  const send = (token: string | null) => {
    if (token !== null) headers.set("authorization", `Bearer ${token}`);
    return fetch(url, { method, headers, body, signal });
  };
  const response = await send(await accessToken());
  if (response.status !== 401) return response;
  const token = await renewToken();
  return token === null ? response : send(token);
}

export const fetchWithBearer = (path: string, init?: RequestInit): Promise<Response> =>
  fetchSignedIn(new Request(path, init));

/**
 * Calls the API and returns the body of its response. `T` is the `Answer` of the contract, by `import type`:
 * the API is of the same build, so its responses are not parsed again.
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
    if (!response.ok) return { ok: false, error: await toApiError(response) };
    const text = await response.text();
    const data: T = text === "" ? undefined : JSON.parse(text);
    return { ok: true, data, headers: response.headers };
  } catch (cause) {
    const isAborted = cause instanceof DOMException && cause.name === "AbortError";
    return { ok: false, error: isAborted ? aborted : networkError };
  }
}

/**
 * Deletes a thing, which counts as deleted if it is gone. Resolves to the text of the error, if any.
 * @param texts instead of the general ones, by status
 */
export async function remove(
  path: string,
  texts: Readonly<Record<number, string>> = {},
): Promise<string | null> {
  const result = await api(path, { method: "DELETE" });
  if (result.ok || result.error.status === 404) return null;
  return texts[result.error.status] ?? result.error.message;
}

/**
 * Resolves to an object URL of the image at a path; null if it cannot be read.
 * @param type in place of the type that the response gives
 */
export async function loadImage(
  path: string,
  type?: string,
  signal: AbortSignal | null = null,
): Promise<string | null> {
  try {
    const response = await fetchWithBearer(path, { signal });
    if (!response.ok) return null;
    const image = await response.blob();
    return URL.createObjectURL(type === undefined ? image : new Blob([image], { type }));
  } catch {
    return null;
  }
}

/** Resolves to the body of `GET path`. @throws ApiError, for the cache of reads */
export async function read<T>(path: string, signal: AbortSignal): Promise<T> {
  const result = await api<T>(path, { signal });
  if (!result.ok) throw result.error;
  return result.data;
}

export async function toApiError(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const code = headers.get("x-error-code") ?? "";
  return {
    status,
    code,
    message: describeError({ status, code, retryAfter: headers.get("retry-after") }),
    fields: status === 400 ? invalidFields(await response.json().catch(() => null)) : [],
    requestId: headers.get("x-request-id"),
  };
}

const noResponse = { status: 0, fields: [], requestId: null };
export const networkError: ApiError = { ...noResponse, code: "network", message: unreachable };
const aborted: ApiError = { ...noResponse, code: "aborted", message: "The request was canceled." };

/** Some endpoints list the invalid fields; others start their message with the name of the first. */
function invalidFields(body: unknown): readonly string[] {
  const { missing_fields: listed, error, message } = Object(body);
  if (Array.isArray(listed)) return listed.map(String);
  const field = /^[a-z_]+(\.\w+)*(?=:? )/.exec(String(error?.message ?? error ?? message));
  return field === null ? [] : [field[0]];
}
