/** Reads params, query and a JSON body: bounded, sanitized, and validated against a contract's schemas. */
import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { quoteLargeIntegers } from "@platform/kit/large-integers";
import { measureJson } from "@platform/kit/measure-json";
import { z } from "zod";
import { type AppError, appError, invalidField, isAppError } from "./contract/app-error.ts";
import type { Contract } from "./contract/contract.ts";
import { describeIssue } from "./contract/describe-issue.ts";
import { normalizeInput, type UnknownField } from "./contract/normalize-input.ts";
import { describeUnknownField, fieldName } from "./contract/unknown-field.ts";

/** Far more than real bodies have, and far less than would overflow the stack of recursive code. */
const MAX_DEPTH = 100;
/**
 * A body may have one value for each 40 bytes of its limit. Real bodies have a tenth of that; a
 * hostile one could have hundreds of times more, all visited without yielding to other requests.
 */
const BYTES_PER_VALUE = 40;

const invalidJson = appError("invalid_json", "Invalid JSON body");

export interface ReadBody {
  readonly value: unknown;
}

const tooLarge = appError("payload_too_large", "Request body too large");

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Returns the request with its body decoded as `Content-Encoding` says, while it is read. Errors: 415.
 * @param limit in bytes, of the body as it is sent
 */
export function decodeBody(request: Request, limit: number): Request | AppError {
  const header = request.headers.get("content-encoding") ?? "";
  const coding = header.trim().toLowerCase();
  if (coding === "" || coding === "identity" || !request.body) return request;
  const createDecoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (!createDecoder) {
    const headers = { "accept-encoding": "gzip, deflate, br" };
    const message = "Content-Encoding must be one of gzip, deflate and br";
    return appError("unsupported_media_type", message, { headers });
  }
  const decoder = createDecoder();
  pipeline(Readable.from(sentBytes(request.body, limit)), decoder, () => {});
  const headers = new Headers(request.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  const body = Readable.toWeb(decoder) as ReadableStream<Uint8Array<ArrayBuffer>>;
  const { method, signal } = request;
  // Undici and the types of the DOM differ in `duplex`.
  const init: RequestInit & { duplex: "half" } = { method, signal, headers, body, duplex: "half" };
  return new Request(request.url, init);
}

/** Bytes that decode to nothing have no end otherwise. */
async function* sentBytes(body: ReadableStream<Uint8Array>, limit: number) {
  let left = limit;
  for await (const chunk of body) {
    left -= chunk.byteLength;
    if (left < 0) throw new TooLarge();
    yield chunk;
  }
}

class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/** Returns the error of a body that cannot be decoded; rethrows every other. */
function undecodable(error: unknown): AppError {
  if (error instanceof TooLarge) return tooLarge;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  // Errors of zlib and Brotli.
  if (!/^(?:Z_|ERR__)/.test(code)) throw error;
  return appError("invalid_request", "The request body is not encoded as Content-Encoding says");
}

/** Resolves to the parsed JSON; an empty body is `{}`. Errors: 400, 413. */
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

/** Resolves to a ZIP archive as the JSON `{zip}`. Errors: 413. */
export async function readZipBody(request: Request, limit: number): Promise<ReadBody | AppError> {
  const bytes = await readBytes(request, limit);
  if (!(bytes instanceof Uint8Array)) return bytes;
  return { value: { zip: Buffer.from(bytes).toString("base64") } };
}

/** Resolves to the bytes of a body. Errors: 400 for one that cannot be decoded, 413. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array | AppError> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) return tooLarge;
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const read = await reader.read().catch(undecodable);
    if (isAppError(read)) return read;
    const { done, value } = read;
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

/** Parses the text of a body. Errors: 400. @param limit the body's limit in bytes */
export function parseJson(text: string, limit: number): ReadBody | AppError {
  if (text.trim() === "") return { value: {} };
  const { depth, values } = measureJson(text);
  if (depth > MAX_DEPTH) {
    return appError("invalid_request", `Request body must be at most ${MAX_DEPTH} levels deep`);
  }
  const maxValues = Math.floor(limit / BYTES_PER_VALUE);
  if (values > maxValues) {
    return appError("invalid_request", `Request body must have at most ${maxValues} values`);
  }
  let value: unknown;
  try {
    // The output of a client's tool may be of any type, and keeps its digits. A field that is a number refuses the text.
    value = JSON.parse(quoteLargeIntegers(text));
  } catch {
    return invalidJson;
  }
  // The characters that `cleanse` searches for always contain one of these, so most bodies skip it.
  if (text.includes("\\u") || text.includes("__proto__")) {
    if (!cleanse(value)) {
      return appError("invalid_request", "Request body must be well-formed Unicode without NUL");
    }
  }
  return { value };
}

/** Returns whether a text can be stored: PostgreSQL has no NUL, and UTF-8 no lone surrogates. */
function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** Deletes `__proto__` keys in place. Returns false when a text cannot be stored. */
function cleanse(value: unknown): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value !== "object" || value === null) return true;
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && cleanse(inner));
}

interface RawInput {
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly query: Readonly<Record<string, unknown>> | undefined;
  readonly body: unknown;
}

const issueText = { error: describeIssue };
/** Bounds the reported issues and unknown fields of params, query or body: a body can have a million. */
const MAX_VALIDATION_ISSUES = 1_000;

export interface ParsedInput {
  /** The output of the schemas; undefined where the contract has none. */
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** The dotted paths of the unknown fields of the query and the body. */
  readonly ignored: readonly string[];
}

/** @param isStrict whether unknown fields are refused wherever they are */
export type Validator = (raw: RawInput, isStrict?: boolean) => ParsedInput | AppError;

/** A reason to refuse a request, with the dotted paths of its fields. */
interface Fault {
  readonly message: string;
  readonly fields: readonly string[];
}

/**
 * Returns the contract's validator. Its error is a 400 whose message describes the first fault, in
 * the order params, query, body, with unknown fields first, and whose `fields` name all of them.
 */
export function validator(contract: Contract): Validator {
  const { params, query, body, strictBody = false } = contract;
  return (raw, isStrict = false) => {
    for (const part of [raw.params, query && raw.query]) {
      for (const [name, value] of Object.entries(part ?? {})) {
        if (typeof value === "string" && !isStorableText(value)) {
          return invalidField(name, `${name} must be well-formed Unicode without NUL`);
        }
      }
    }
    let conflict: AppError | undefined;
    const onConflict = (name: string, other: string) => {
      conflict = invalidField(name, `${name} and ${other} must not differ`);
    };
    const faults: Fault[] = [];
    const ignored: string[] = [];
    const parse = (
      schema: z.ZodType,
      value: unknown,
      kind: "field" | "parameter",
      refusesUnknown: boolean,
    ): unknown => {
      const refused: UnknownField[] = [];
      const onUnknown = (field: UnknownField) => {
        if (!refusesUnknown && !field.isRefused) {
          if (ignored.length < MAX_VALIDATION_ISSUES) ignored.push(fieldName(field));
        } else if (refused.length < MAX_VALIDATION_ISSUES) refused.push(field);
      };
      const normalized = normalizeInput(schema, value, { onConflict, onUnknown });
      const [unknown] = refused;
      if (unknown) {
        const message = describeUnknownField(unknown, schema, kind);
        faults.push({ message, fields: refused.map(fieldName) });
      }
      const result = schema.safeParse(normalized, issueText);
      if (result.success) return result.data;
      for (const issue of result.error.issues.slice(0, MAX_VALIDATION_ISSUES)) {
        faults.push({ message: issue.message, fields: fieldsOf(issue) });
      }
      return undefined;
    };
    const parsed = {
      params: params && parse(params, raw.params, "field", false),
      // Parameters of an endpoint without any are unknown, too.
      query: parse(query ?? noFields, raw.query ?? {}, "parameter", isStrict),
      body: body && parse(body, raw.body, "field", isStrict || strictBody),
      ignored,
    };
    if (conflict) return conflict;
    const [first] = faults;
    if (!first) return query ? parsed : { ...parsed, query: undefined };
    const fields = [...new Set(faults.flatMap((fault) => fault.fields))];
    return appError("invalid_request", first.message, { fields });
  };
}

const noFields = z.object({});

function fieldsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...path, key].join("."));
  return path.length > 0 ? [path.join(".")] : [];
}
