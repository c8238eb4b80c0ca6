/** The file `event.json`, which a stranger writes. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { measureJson } from "@platform/kit/measure-json";

/** The same as for every other body of the API. */
const MAX_DEPTH = 100;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i;

export interface EventFile {
  readonly content: string;
  /** The parsed body; undefined unless it is JSON. */
  readonly json: unknown;
}

/**
 * Returns the file for a body: a body that is JSON as it is, any other in an object. Errors: 400 for a body that is not the
 * JSON that its type says it is.
 */
export function eventFile(contentType: string | null, body: Uint8Array): EventFile | AppError {
  const text = textOf(body);
  const isTyped = JSON_TYPE.test(contentType ?? "");
  if (text !== null && (isTyped || /^\s*[[{]/.test(text))) {
    const json = parse(text);
    if (json !== undefined) return { content: text, json };
  }
  if (isTyped) {
    return appError("invalid_json", `The body must be JSON of at most ${MAX_DEPTH} levels`);
  }
  const content =
    text === null ? { body_base64: Buffer.from(body).toString("base64") } : { body: text };
  return { content: JSON.stringify({ content_type: contentType, ...content }), json: undefined };
}

/** Returns null for bytes that are not text. */
function textOf(body: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  if (measureJson(text).depth > MAX_DEPTH) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
