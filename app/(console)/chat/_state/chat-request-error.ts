/** The service refused a request of the chat, and repeating it would not help. */
export class ChatRequestError extends Error {
  readonly status: number;
  /** `x-error-code`, a stable word such as `stream_active`. */
  readonly code: string;
  /** The request id for support; null if the response has none. */
  readonly requestId: string | null;

  constructor(status: number, code: string, text: string, requestId: string | null) {
    super(text);
    this.name = "ChatRequestError";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** Reads a response that is not 2xx. */
export async function toChatRequestError(response: Response): Promise<ChatRequestError> {
  const { status, headers } = response;
  const body: unknown = await response.json().catch(() => null);
  const fallback = `The service responded with status ${status}`;
  return new ChatRequestError(
    status,
    headers.get("x-error-code") ?? "",
    textIn(body) ?? fallback,
    headers.get("x-request-id"),
  );
}

/** The chat endpoints put the text into `message`, those of sessions and the sandbox into `error`. */
function textIn(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  if ("message" in body && typeof body.message === "string") return body.message;
  if ("error" in body && typeof body.error === "string") return body.error;
  return undefined;
}
