/** The headers of requests and answers, described once for all operations. */
import { z } from "zod";
import type { ErrorCode } from "../contract/app-error.ts";
import type { Contract, ResponseHeader } from "../contract/contract.ts";
import { statusOf } from "../http/error-response.ts";

const required = (id: string, schema: z.ZodType, description: string) =>
  schema.meta({ description, header: { id } });
const optional = (id: string, schema: z.ZodType, description: string) =>
  schema.optional().meta({ description, header: { id } });

const responseHeaders = {
  "x-request-id": required(
    "x-request-id",
    z.string(),
    "The caller's `x-request-id`, or a new one.",
  ),
};
const errorHeaders = {
  ...responseHeaders,
  "x-error-code": required(
    "x-error-code",
    z.enum(Object.keys(statusOf)),
    "A stable word for the kind of error.",
  ),
};
const retryAfter = optional("retry-after", z.string(), "Seconds to wait before asking again.");
const rateLimitHeaders = {
  ratelimit: optional(
    "ratelimit",
    z.string(),
    "What is left (`r`) of the limit, and in how many seconds it is whole again (`t`).",
  ),
  "ratelimit-policy": optional(
    "ratelimit-policy",
    z.string(),
    "The limit: `q` requests in `w` seconds.",
  ),
};
const replayed = optional(
  "idempotency-replayed",
  z.literal("true"),
  "Set on the repetition of an answer.",
);
const challenge = required("www-authenticate", z.string(), "The scheme of a bearer token.");
const acceptRanges = required("accept-ranges", z.literal("bytes"), "Ranges are of bytes.");
const contentRange = required(
  "content-range",
  z.string(),
  "The bytes that the answer has, and how many there are.",
);
const declarableHeaders: Readonly<Record<ResponseHeader, z.ZodType>> = {
  "accept-ranges": acceptRanges,
  "content-range": contentRange,
  etag: required("etag", z.string(), "For `if-none-match` and `if-range`."),
  link: optional("link", z.string(), 'The next page, as `<…>; rel="next"`; none on the last one.'),
  location: required("location", z.string(), "The address to go on with."),
  "retry-after": retryAfter,
  "x-workflow-run-id": required("x-workflow-run-id", z.string(), "The durable run."),
  "x-workflow-stream-tail-index": required(
    "x-workflow-stream-tail-index",
    z.string(),
    "Index of the newest chunk.",
  ),
};
const headersByCode: Partial<Record<ErrorCode, Record<string, z.ZodType>>> = {
  unauthorized: { "www-authenticate": challenge },
  rate_limited: { "retry-after": retryAfter },
  too_many_turns: { "retry-after": retryAfter },
  queue_full: { "retry-after": retryAfter },
  too_many_generations: { "retry-after": retryAfter },
  too_many_attempts: { "retry-after": retryAfter },
  too_many_invitations: { "retry-after": retryAfter },
  idempotency_in_progress: { "retry-after": retryAfter },
  unavailable: { "retry-after": retryAfter },
  upstream_error: { "retry-after": retryAfter },
  range_not_satisfiable: { "accept-ranges": acceptRanges, "content-range": contentRange },
  stream_active: {
    "x-workflow-run-id": z.string().optional().meta({ description: "The run that streams now." }),
  },
};

const requestHeaders = {
  "x-request-id": z
    .string()
    .optional()
    .meta({
      description: "1 to 128 visible ASCII characters, to find the request by in logs.",
      param: { id: "x-request-id" },
    }),
};
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
    ...requestHeaders,
    ...headers?.shape,
    ...(idempotent ? { "idempotency-key": idempotencyKey } : {}),
  });

/** Returns the headers of a success. @param declared in the contract */
export const headersOfSuccess = (contract: Contract, declared: readonly ResponseHeader[]) =>
  z.object({
    ...responseHeaders,
    ...conditionalHeaders(contract),
    ...Object.fromEntries(declared.map((name) => [name, declarableHeaders[name]])),
  });

/** Returns the headers of a status that stands for these errors. */
export const headersOfErrors = (contract: Contract, codes: readonly ErrorCode[]) =>
  z.object({
    ...errorHeaders,
    ...conditionalHeaders(contract),
    ...Object.assign({}, ...codes.map((code) => headersByCode[code] ?? {})),
  });

const conditionalHeaders = ({ auth, addressLimit, idempotent }: Contract) => ({
  ...(auth === "none" && !addressLimit ? {} : rateLimitHeaders),
  ...(idempotent ? { "idempotency-replayed": replayed } : {}),
});
