import type { components } from "./generated/api.ts";

/** The values of `x-error-code`: a stable word for the cause of an error. */
export type ErrorCode = components["headers"]["x-error-code"];

/** The service refused a request, and repeating it would not help. */
export class ApiError extends Error {
  readonly status: number;
  /** `x-error-code`, such as `stream_active`; empty if the response has none, as from a proxy. */
  readonly code: ErrorCode | "";
  /** The id under which the service's log has the request; null if the response has none. */
  readonly requestId: string | null;

  constructor(response: Response, body: unknown) {
    super(textIn(body) ?? `The service responded with status ${response.status}`);
    this.name = "ApiError";
    this.status = response.status;
    // A newer service may have further codes.
    this.code = (response.headers.get("x-error-code") ?? "") as ErrorCode | "";
    this.requestId = response.headers.get("x-request-id");
  }
}

/** Reads a response that is not 2xx. */
export async function toApiError(response: Response): Promise<ApiError> {
  return new ApiError(response, await response.json().catch(() => null));
}

/** Returns the sentence of an error body, which is in `message`, in `error` or in both, one inside the other. */
function textIn(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const text = "message" in body ? body.message : "error" in body ? body.error : undefined;
  return typeof text === "string" ? text : textIn(text);
}
