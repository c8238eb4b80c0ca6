/** The responses of an operation: those its contract declares, and the errors that follow from it. */

import { z } from "zod";
import type { ZodOpenApiResponsesObject } from "zod-openapi";
import { type ErrorCode, statusOf } from "../contract/app-error.ts";
import type { Contract, ErrorFamily, ResponseHeader } from "../contract/contract.ts";
import { bodiesOf, json, type RecordedExchanges, withExamples } from "./examples.ts";

const status = z.literal("error");
const sentence = z.string().describe("One sentence, safe to show.");

const errorSchemas: Readonly<Record<ErrorFamily, z.ZodType>> = {
  message: z
    .object({
      status,
      message: sentence,
      remedy: z.string().optional().describe("What the caller can do about it."),
    })
    .meta({ id: "MessageError" }),
  error: z.object({ status, error: sentence }).meta({ id: "Error" }),
  missing: z
    .object({
      status,
      error: sentence,
      missing_fields: z.array(z.string()).describe("Dotted paths of missing or invalid fields."),
    })
    .meta({ id: "FieldsError" }),
  plain: z.object({ error: sentence }).meta({ id: "PlainError" }),
  catalog: z
    .object({ error: z.object({ status: z.int(), message: sentence }) })
    .meta({ id: "CatalogError" }),
  rpc: z
    .object({
      jsonrpc: z.literal("2.0"),
      id: z.union([z.string(), z.number()]).nullable().describe("Null if it could not be read."),
      error: z.object({ code: z.int(), message: sentence, data: z.unknown().optional() }),
    })
    .meta({ id: "RpcError" }),
};

export function successResponses(
  contract: Contract,
  exchanges: RecordedExchanges,
): ZodOpenApiResponsesObject {
  const described: ZodOpenApiResponsesObject = {};
  for (const [code, success] of Object.entries(contract.responses)) {
    const { description, headers = [], schema, stream, bytes } = success;
    const examples = bodiesWithStatus(exchanges, Number(code));
    const content = {
      ...(schema ? json(schema, examples) : {}),
      ...(stream ? { "text/event-stream": { schema: z.string(), ...withExamples(examples) } } : {}),
      // OpenAPI 3.1 describes bytes by a media type without a schema.
      ...Object.fromEntries(
        (bytes ?? []).map((type) => [type, type.startsWith("text/") ? withExamples(examples) : {}]),
      ),
    };
    described[statusKey(Number(code))] = {
      description,
      headers: headersOfSuccess(contract, headers),
      ...(schema || stream || bytes ? { content } : {}),
    };
  }
  return described;
}

export function errorResponses(
  contract: Contract,
  exchanges: RecordedExchanges,
): ZodOpenApiResponsesObject {
  const described: ZodOpenApiResponsesObject = {};
  const byStatus = Map.groupBy(errorCodes(contract), (code) => statusOf[code]);
  for (const [code, names] of [...byStatus].sort(([one], [other]) => one - other)) {
    described[statusKey(code)] = {
      description: names.map((name) => `\`${name}\``).join(", "),
      headers: headersOfErrors(contract, names),
      content: json(errorSchemas[contract.family], bodiesWithStatus(exchanges, code)),
    };
  }
  return described;
}

/** Returns the errors that the pipeline can answer for this contract, and those it declares. */
export function errorCodes(contract: Contract): ErrorCode[] {
  // Any endpoint refuses unknown parameters of the query if the request asks for it.
  const codes = new Set<ErrorCode>(["internal", "invalid_request"]);
  if (contract.auth !== "none") codes.add("unauthorized").add("rate_limited").add("unavailable");
  if (contract.body) codes.add("invalid_json");
  if (contract.body || contract.byteBodyLimit !== undefined) {
    codes.add("payload_too_large").add("unsupported_media_type");
  }
  // Every endpoint refuses some credential, if only one that was found in a sandbox.
  if (contract.auth !== "none" || contract.runCredential === undefined) codes.add("forbidden");
  if (contract.accountAccess || contract.organizationAccess) codes.add("access_denied");
  if (contract.artistAccess) codes.add("not_found");
  if (contract.idempotent) codes.add("idempotency_in_progress").add("idempotency_mismatch");
  for (const code of contract.errors) codes.add(code);
  return [...codes];
}

const bodiesWithStatus = (exchanges: RecordedExchanges, status: number) =>
  bodiesOf(
    exchanges,
    ({ response }) => response.status === status,
    ({ response }) => response,
  );

type StatusKey = `${2 | 3 | 4 | 5}${string}`;

function statusKey(code: number): StatusKey {
  const key = String(code);
  const isKey = (text: string): text is StatusKey => /^[2-5]\d\d$/.test(text);
  if (!isKey(key)) throw new Error(`${key} is not a response status`);
  return key;
}

const required = (id: string, description: string, schema: z.ZodType = z.string()) =>
  schema.meta({ description, header: { id } });
const optional = (id: string, description: string, schema: z.ZodType = z.string()) =>
  schema.optional().meta({ description, header: { id } });

const responseHeaders = {
  "x-request-id": required("x-request-id", "The caller's `x-request-id`, or a new one."),
};
const codes = z.enum(Object.keys(statusOf));
const errorHeaders = {
  ...responseHeaders,
  "x-error-code": required("x-error-code", "A stable word for the kind of error.", codes),
};
const retryAfter = optional("retry-after", "Seconds to wait before asking again.");
const rateLimitHeaders = {
  ratelimit: optional(
    "ratelimit",
    "What is left (`r`) of the limit, and in how many seconds it is whole again (`t`).",
  ),
  "ratelimit-policy": optional("ratelimit-policy", "The limit: `q` requests in `w` seconds."),
};
const isTrue = z.literal("true");
const replayed = optional("idempotency-replayed", "Set on the repetition of an answer.", isTrue);
const challenge = required("www-authenticate", "The scheme of a bearer token.");
const acceptRanges = required("accept-ranges", "Ranges are of bytes.", z.literal("bytes"));
const contentRange = required(
  "content-range",
  "The bytes that the answer has, and how many there are.",
);
const declarableHeaders: Readonly<Record<ResponseHeader, z.ZodType>> = {
  "accept-ranges": acceptRanges,
  "content-range": contentRange,
  etag: required("etag", "For `if-none-match` and `if-range`."),
  link: optional("link", 'The next page, as `<…>; rel="next"`; none on the last one.'),
  location: required("location", "The address to go on with."),
  "retry-after": retryAfter,
  "x-workflow-run-id": required("x-workflow-run-id", "The durable run."),
  "x-workflow-stream-start-index": optional(
    "x-workflow-stream-start-index",
    "Index of the first chunk, where an answer to an approval continues a stream.",
  ),
  "x-workflow-stream-tail-index": required(
    "x-workflow-stream-tail-index",
    "Index of the newest chunk.",
  ),
};
const waits = { "retry-after": retryAfter };
const headersByCode: Partial<Record<ErrorCode, Record<string, z.ZodType>>> = {
  unauthorized: { "www-authenticate": challenge },
  rate_limited: waits,
  too_many_turns: waits,
  queue_full: waits,
  too_many_generations: waits,
  too_many_attempts: waits,
  too_many_invitations: waits,
  idempotency_in_progress: waits,
  unavailable: waits,
  upstream_error: waits,
  range_not_satisfiable: { "accept-ranges": acceptRanges, "content-range": contentRange },
  stream_active: {
    "x-workflow-run-id": z.string().optional().meta({ description: "The run that streams now." }),
  },
};

const requestId = z
  .string()
  .optional()
  .meta({
    description: "1 to 128 visible ASCII characters, to find the request by in logs.",
    param: { id: "x-request-id" },
  });
const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .meta({
    description:
      "A repetition with the same key and body, within 24 hours, has the effect and the answer of the first request.",
    param: { id: "idempotency-key" },
  });

/** Returns the headers that an operation reads. */
export const headersOfRequest = ({ headers, idempotent }: Contract) =>
  z.object({
    "x-request-id": requestId,
    ...headers?.shape,
    ...(idempotent ? { "idempotency-key": idempotencyKey } : {}),
  });

/** Returns the headers of a success. @param declared in the contract */
const headersOfSuccess = (contract: Contract, declared: readonly ResponseHeader[]) =>
  z.object({
    ...responseHeaders,
    ...conditionalHeaders(contract),
    ...Object.fromEntries(declared.map((name) => [name, declarableHeaders[name]])),
  });

/** Returns the headers of a status with these errors. */
const headersOfErrors = (contract: Contract, codes: readonly ErrorCode[]) =>
  z.object({
    ...errorHeaders,
    ...conditionalHeaders(contract),
    ...Object.assign({}, ...codes.map((code) => headersByCode[code] ?? {})),
  });

const conditionalHeaders = ({ auth, addressLimit, idempotent }: Contract) => ({
  ...(auth === "none" && !addressLimit ? {} : rateLimitHeaders),
  ...(idempotent ? { "idempotency-replayed": replayed } : {}),
});
