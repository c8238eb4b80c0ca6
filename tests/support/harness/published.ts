import { isDeepStrictEqual } from "node:util";
import type { Contract } from "@platform/endpoint/contract/contract";
import { expect } from "vitest";
import { z } from "zod";
import { contracts } from "../../../lib/openapi/registry.ts";
import { errorShapes } from "../fixtures/shapes.ts";
import type { Answer } from "./clients.ts";
import type { OpenApi } from "./open-api.ts";

/** The answer is what its contract publishes for this status: nothing missing, and nothing more. */
export function expectPublished(answer: Answer, contract: Contract): void {
  const schema = contract.responses[answer.status]?.schema;
  if (!schema) throw new Error(`${answer.status} is not published: ${answer.text}`);
  expect(faultOfBody(answer.body, schema), answer.text).toBeNull();
}

export interface Exchange {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Of JSON; undefined where the body is of another kind. */
  readonly text: string | undefined;
}

/**
 * Returns how an answer differs from the published contract of its endpoint, in one sentence; null
 * if it does not.
 */
export function faultOf(exchange: Exchange, document: OpenApi): string | null {
  const fault = faultIn(exchange, document);
  const { method, path, status, text = "" } = exchange;
  return fault === null ? null : `${method} ${path} ${status}: ${fault} ${text.slice(0, 2000)}`;
}

function faultIn(exchange: Exchange, document: OpenApi): string | null {
  const { path, status, headers, text } = exchange;
  if (!headers.has("x-request-id")) return "no x-request-id";
  const method = exchange.method === "HEAD" ? "GET" : exchange.method;
  if (method === "OPTIONS") {
    return status === 204 ? null : "OPTIONS is answered with 204 and nothing else";
  }
  // Before any endpoint is asked (proxy.ts).
  if (!isDecodable(path)) return faultOfError(exchange, errorShapes.error, ["invalid_request"]);
  const ofPath = contractsOf(path);
  const contract = ofPath.find((one) => one.method === method);
  if (!contract) {
    if (status !== (ofPath.length > 0 ? 405 : 404)) return "there is no such endpoint";
    return faultOfError(exchange, errorShapes.error, ["not_found", "method_not_allowed"]);
  }
  const responses = document.paths[contract.path]?.[contract.method.toLowerCase()]?.responses;
  const described = responses?.[status]?.description;
  if (described === undefined) return "the status is not published";
  const success = contract.responses[status];
  if (!success) {
    const codes = [...described.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code);
    return faultOfError(exchange, errorShapes[contract.family], codes);
  }
  const type = headers.get("content-type");
  if (success.schema) {
    if (!type?.startsWith("application/json")) return `${type} is not JSON`;
    if (exchange.method === "HEAD" || text === undefined) return null;
    return faultOfBody(JSON.parse(text), success.schema);
  }
  if (success.stream) return type?.startsWith("text/event-stream") ? null : `${type} is no stream`;
  if (success.bytes) return success.bytes.includes(type ?? "") ? null : `${type} is not published`;
  return type === null ? null : `${type} where no body is published`;
}

function faultOfError(
  { method, headers, text }: Exchange,
  shape: z.ZodType,
  codes: readonly string[],
): string | null {
  const code = headers.get("x-error-code") ?? "none";
  if (!codes.includes(code)) return `the error code ${code} is not published`;
  if (method === "HEAD") return null;
  if (text === undefined) return "an error is told in JSON";
  return faultOfBody(JSON.parse(text), shape);
}

function faultOfBody(body: unknown, schema: z.ZodType): string | null {
  const parsed = schema.safeParse(body);
  if (!parsed.success) return z.prettifyError(parsed.error);
  // Parsing drops fields that the schema does not name.
  return isDeepStrictEqual(parsed.data, body) ? null : "the body has more than is published";
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
const patterns = contracts.map((one) => [one, patternOf(one.path)] as const);

/** Of the paths that fit, that with the fewest variables, as the server chooses. */
function contractsOf(path: string): readonly Contract[] {
  const fitting = patterns.filter(([, pattern]) => pattern.test(path)).map(([one]) => one);
  const variables = (one: Contract) => one.path.split("{").length;
  const fewest = Math.min(...fitting.map(variables));
  return fitting.filter((one) => variables(one) === fewest);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
