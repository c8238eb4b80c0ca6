/** Reads params, query and a JSON body: bounded, sanitized, and validated against a contract's schemas. */
import type { z } from "zod";
import { type AppError, appError, invalidField } from "../contract/app-error.ts";
import type { Contract } from "../contract/contract.ts";
import { describeIssue } from "../contract/describe-issue.ts";
import { normalizeInput } from "../contract/normalize-input.ts";
import { measureJson } from "../platform/measure-json.ts";

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

/** Resolves to a ZIP archive as the JSON `{zip}` that stands for it. Errors: 413. */
export async function readZipBody(request: Request, limit: number): Promise<ReadBody | AppError> {
  const bytes = await readBytes(request, limit);
  if (!(bytes instanceof Uint8Array)) return bytes;
  return { value: { zip: Buffer.from(bytes).toString("base64") } };
}

/** Resolves to the bytes of a body. Errors: 413. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array | AppError> {
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
    value = JSON.parse(text);
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
/** Bounds the reported issues of params, query or body: a body can have a million. */
const MAX_VALIDATION_ISSUES = 1_000;

/** The output of the schemas; undefined where the contract has none. */
export interface ParsedInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

export type Validator = (raw: RawInput) => ParsedInput | AppError;

/**
 * Returns the contract's validator. Its error is a 400 whose message describes the first issue, in
 * the order params, query, body, and whose `fields` name all of them.
 */
export function validator(contract: Contract): Validator {
  const { params, query, body } = contract;
  return (raw) => {
    for (const part of [raw.params, raw.query]) {
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
    const issues: z.core.$ZodIssue[] = [];
    const parse = (schema: z.ZodType | undefined, value: unknown): unknown => {
      if (!schema) return undefined;
      const result = schema.safeParse(normalizeInput(schema, value, onConflict), issueText);
      if (result.success) return result.data;
      issues.push(...result.error.issues.slice(0, MAX_VALIDATION_ISSUES));
      return undefined;
    };
    const parsed = {
      params: parse(params, raw.params),
      query: parse(query, raw.query),
      body: parse(body, raw.body),
    };
    if (conflict) return conflict;
    const first = issues[0];
    if (!first) return parsed;
    const fields = [...new Set(issues.flatMap(fieldsOf))];
    return appError("invalid_request", first.message, { fields });
  };
}

function fieldsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...path, key].join("."));
  return path.length > 0 ? [path.join(".")] : [];
}
