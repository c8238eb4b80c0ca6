/** Calls an endpoint from within the process, through the same stages as a request from outside. */
import { z } from "zod";
import type { Contract } from "../contract/contract.ts";
import { otherSpelling } from "../contract/normalize-input.ts";
import type { RouteHandler } from "./endpoint.ts";

type Values = Readonly<Record<string, unknown>>;

/** Headers of the request that say something about its own body or answer, and not about its caller. */
const OWN_HEADERS = [
  "content-length",
  "content-encoding",
  "idempotency-key",
  "if-none-match",
  "if-range",
  "last-event-id",
  "range",
  "transfer-encoding",
];

/**
 * Resolves to the endpoint's response.
 * @param input parameters, query and fields of the body under their names; missing ones are absent
 * @param from the request whose caller is asking, and whose end aborts the call
 */
export function callEndpoint(
  contract: Contract,
  handler: RouteHandler,
  input: Values,
  from: Request,
): Promise<Response> {
  const params = textsOf(contract.params, input);
  const query = textsOf(contract.query, input);
  const url = new URL(from.url);
  // Handlers get their parameters as values: the path is for readers of a log.
  url.pathname = contract.path;
  url.search = new URLSearchParams(query).toString();
  const headers = new Headers(from.headers);
  for (const name of OWN_HEADERS) headers.delete(name);
  const { method } = contract;
  const body = contract.body && JSON.stringify(without(input, { ...params, ...query }));
  const request = new Request(url, { method, headers, signal: from.signal, ...(body && { body }) });
  return handler(request, { params: Promise.resolve(params) });
}

/** Returns the input's values for the fields of a schema as a URL would hold them. */
function textsOf(schema: z.ZodType | undefined, input: Values): Record<string, string> {
  if (!(schema instanceof z.ZodObject)) return {};
  const names = Object.keys(schema.shape).flatMap((name) => [name, otherSpelling(name)]);
  const given = names.flatMap((name) => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined || value === null) return [];
    return [[name, typeof value === "string" ? value : JSON.stringify(value)] as const];
  });
  return Object.fromEntries(given);
}

const without = (input: Values, names: Values): Values =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(names, name)));
