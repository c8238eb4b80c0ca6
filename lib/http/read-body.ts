/** A request's body, counted while it is read and made harmless before anything sees it. */
import { type AppError, appError } from "../contract/app-error.ts";
import { measureJson } from "../platform/measure-json.ts";

/** Real bodies stay far below; recursive code further down would overflow far above. */
const MAX_DEPTH = 100;
/**
 * A body has at most one value for so many bytes that it may have. Real ones have a tenth; a body of
 * nothing but values has hundreds of times more, each of which is looked at in one go.
 */
const BYTES_PER_VALUE = 40;

const invalidJson = appError("invalid_json", "Invalid JSON body");

export interface ReadBody {
  readonly value: unknown;
}

/** The parsed JSON value; an empty body is `{}`. Errors: 400, 413. Decisions, section 1. */
export async function readBody(request: Request, limit: number): Promise<ReadBody | AppError> {
  const bytes = await readBytes(request, limit);
  if (!(bytes instanceof Uint8Array)) return bytes;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return invalidJson;
  }
  return parseJson(text, limit);
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array | AppError> {
  const tooLarge = appError("payload_too_large", "Request body too large");
  if (Number(request.headers.get("content-length") ?? 0) > limit) return tooLarge;
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel().catch(() => {});
      return tooLarge;
    }
    chunks.push(value);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

/** @param limit bytes that the text may have had */
export function parseJson(text: string, limit: number): ReadBody | AppError {
  if (text.trim() === "") return { value: {} };
  const { depth, values } = measureJson(text);
  if (depth > MAX_DEPTH) {
    return appError("invalid_request", `Request body must be at most ${MAX_DEPTH} levels deep`);
  }
  const most = Math.floor(limit / BYTES_PER_VALUE);
  if (values > most) {
    return appError("invalid_request", `Request body must have at most ${most} values`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalidJson;
  }
  // What the walk looks for is always spelled with one of these.
  if (text.includes("\\u") || text.includes("__proto__")) {
    if (!cleanse(value)) {
      return appError("invalid_request", "Request body must be well-formed Unicode without NUL");
    }
  }
  return { value };
}

/** PostgreSQL cannot hold NUL, and UTF-8 cannot hold half a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** Drops `__proto__` keys in place; false when a text cannot be stored. */
function cleanse(value: unknown): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value !== "object" || value === null) return true;
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && cleanse(inner));
}
