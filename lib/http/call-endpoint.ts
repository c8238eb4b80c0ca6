/** Calls an endpoint from within the process, through the same stages as a request from outside. */

import type { Contract } from "@platform/endpoint/contract/contract";
import { otherSpelling } from "@platform/endpoint/contract/normalize-input";
import type { RouteHandler } from "@platform/endpoint/methods";
import { z } from "zod";

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
 * Resolves to the endpoint's response. A value that the endpoint does not know is refused.
 * @param input parameters, query and fields of the body under their names; missing ones are absent
 * @param from the request whose caller is asking, and whose end aborts the call
 */
export function callEndpoint(
  contract: Contract,
  handler: RouteHandler,
  input: Values,
  from: Request,
): Promise<Response> {
  const [paramNames, queryNames] = [namesIn(contract.params), namesIn(contract.query)];
  const params = textsOf(input, paramNames);
  const known = [...paramNames, ...queryNames];
  const others = Object.keys(input).filter((name) => !known.includes(name));
  const inQuery = contract.body ? queryNames : [...queryNames, ...others];
  const url = new URL(from.url);
  // Handlers get their parameters as values: the path is for readers of a log.
  url.pathname = contract.path;
  url.search = new URLSearchParams(textsOf(input, inQuery)).toString();
  const headers = new Headers(from.headers);
  for (const name of OWN_HEADERS) headers.delete(name);
  headers.set("prefer", "handling=strict");
  const { method } = contract;
  const fields = Object.fromEntries(others.map((name) => [name, input[name]]));
  const body = contract.body && JSON.stringify(fields);
  const request = new Request(url, { method, headers, signal: from.signal, ...(body && { body }) });
  return handler(request, { params: Promise.resolve(params) });
}

/** Returns the names of a schema's fields in both spellings. */
const namesIn = (schema: z.ZodType | undefined): string[] =>
  schema instanceof z.ZodObject
    ? Object.keys(schema.shape).flatMap((name) => [name, otherSpelling(name)])
    : [];

/** Returns the values of these names as a URL would hold them. */
function textsOf(input: Values, names: readonly string[]): Record<string, string> {
  const given = names.flatMap((name) => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined || value === null) return [];
    return [[name, typeof value === "string" ? value : JSON.stringify(value)] as const];
  });
  return Object.fromEntries(given);
}
