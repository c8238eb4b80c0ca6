/** The service refused a request of the chat for good: repeating it would not help. */
export class ChatRefused extends Error {
  readonly status: number;
  /** `x-error-code`, a stable word such as `stream_active`. */
  readonly code: string;
  /** To name in a report; null when the answer carried none. */
  readonly requestId: string | null;

  constructor(status: number, code: string, text: string, requestId: string | null) {
    super(text);
    this.name = "ChatRefused";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** @param response one that is not 2xx; its body is read. */
export async function toRefusal(response: Response): Promise<ChatRefused> {
  const { status, headers } = response;
  const body: unknown = await response.json().catch(() => null);
  const fallback = `The service answered ${status}`;
  return new ChatRefused(
    status,
    headers.get("x-error-code") ?? "",
    textIn(body) ?? fallback,
    headers.get("x-request-id"),
  );
}

/** The chat's endpoints say `message`, those of sessions and the sandbox `error`. */
function textIn(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  if ("message" in body && typeof body.message === "string") return body.message;
  if ("error" in body && typeof body.error === "string") return body.error;
  return undefined;
}
