/** OpenAPI 3.1, from the contracts and from nothing else. */
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import type { ErrorCode } from "../contract/app-error.ts";
import type { Contract, ErrorFamily, ResponseHeader } from "../contract/contract.ts";
import { withNulls } from "../contract/optional-nulls.ts";
import { statusOf } from "../http/error-response.ts";
import type { Exchange, Exchanges } from "./examples.ts";
import type { Operation } from "./registry.ts";

const status = z.literal("error");
const sentence = z.string().describe("One sentence, safe to show.");

const errorSchemas: Readonly<Record<ErrorFamily, z.ZodType>> = {
  message: z.object({ status, message: sentence }).meta({ id: "MessageError" }),
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
};

const required = (id: string, schema: z.ZodType, description: string) =>
  schema.meta({ description, header: { id } });
const optional = (id: string, schema: z.ZodType, description: string) =>
  schema.optional().meta({ description, header: { id } });

const everyAnswer = {
  "x-request-id": required(
    "x-request-id",
    z.string(),
    "The caller's `x-request-id`, or a new one.",
  ),
};
const everyError = {
  ...everyAnswer,
  "x-error-code": required(
    "x-error-code",
    z.enum(Object.keys(statusOf)),
    "A stable word for the kind of error.",
  ),
};
const retryAfter = optional("retry-after", z.string(), "Seconds to wait before asking again.");
const ofLimits = {
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
const ofSomeAnswers: Readonly<Record<ResponseHeader, z.ZodType>> = {
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
const headersOfError: Partial<Record<ErrorCode, Record<string, z.ZodType>>> = {
  unauthorized: { "www-authenticate": challenge },
  rate_limited: { "retry-after": retryAfter },
  unavailable: { "retry-after": retryAfter },
  conflict: { "retry-after": retryAfter },
  upstream_error: { "retry-after": retryAfter },
  range_not_satisfiable: { "accept-ranges": acceptRanges, "content-range": contentRange },
  stream_active: {
    "x-workflow-run-id": z.string().optional().meta({ description: "The run that streams now." }),
  },
};

const ofEveryRequest = {
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

/** What each tag is about, in the order in which people read it. */
export const tags: Readonly<Record<string, string>> = {
  Chat: "Turns of an agent, streamed, resumed and stopped; headless runs.",
  Sessions: "A session owns chats and a sandbox.",
  Sandbox: "Where the agent's tools act.",
  Models: "The models that a chat or a run may name.",
  "Sign-up": "How an agent gets its first API key.",
  Keys: "API keys of an account.",
  "Agent templates": "Prompts to start from: own, public or shared by e-mail.",
  Content: "Images and videos, and the templates that shape them.",
  Tasks: "Background runs.",
  Connectors: "Third-party services that an account is linked to.",
  Catalog: "Artists, albums and tracks.",
  Research: "All tracks of an artist.",
  Service: "Health, and this document.",
};

/** @param examples by operation */
export function describeApi(
  operations: readonly Operation[],
  examples: Readonly<Record<string, Exchanges>>,
  serverUrl: string | undefined,
) {
  const paths: ZodOpenApiPathsObject = {};
  for (const { id, contract } of operations) {
    paths[contract.path] = {
      ...paths[contract.path],
      [contract.method.toLowerCase()]: describeOperation(id, contract, examples[id] ?? {}),
    };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Agent Platform API",
      version: "1.0.0",
      description:
        "Send exactly one credential: an API key in `x-api-key`, or a bearer token. " +
        "The agent's sandbox has a credential of its own for each run, in `AGENT_API_AUTH_HEADER`: " +
        "it acts for the caller's account, ends with the run, and may only call what says so. " +
        "Every response carries `x-request-id`, every error `x-error-code`. " +
        "Unknown keys of a body are ignored, and an optional field may be `null` as if it were " +
        "absent; a body is read as JSON whatever its content type.",
    },
    servers: [{ url: serverUrl ?? "/" }],
    tags: Object.entries(tags)
      .map(([name, description]) => ({ name, description }))
      .filter(({ name }) => operations.some(({ contract }) => contract.tag === name)),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "A key of `POST /api/keys` or `POST /api/agents/verify`.",
        },
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "A token of the identity provider; its e-mail names a personal account.",
        },
      },
    },
  });
}

function describeOperation(
  id: string,
  contract: Contract,
  exchanges: Exchanges,
): ZodOpenApiOperationObject {
  const { params, query, headers, body } = contract;
  const plainest = Object.values(exchanges)[0]?.request;
  return {
    operationId: id,
    summary: contract.summary,
    ...withDescription(contract),
    tags: [contract.tag],
    security: securityOf(contract),
    requestParams: {
      ...(params ? { path: withParameterExamples(params, plainest?.params) } : {}),
      ...(query instanceof z.ZodObject
        ? { query: withParameterExamples(query, plainest?.query) }
        : {}),
      header: z.object({
        ...ofEveryRequest,
        ...headers?.shape,
        ...(contract.idempotent ? { "idempotency-key": idempotencyKey } : {}),
      }),
    },
    ...(body
      ? {
          requestBody: {
            required: !body.safeParse({}).success,
            content: json(
              withNulls(body),
              bodiesOf(exchanges, isTaken, ({ request }) => request),
            ),
          },
        }
      : {}),
    responses: { ...failures(contract, exchanges), ...successes(contract, exchanges) },
  };
}

/** What the contract says in words, and whether the credential of a run may call it. */
function withDescription({ auth, description, runCredential: rule }: Contract) {
  const forRuns =
    auth === "none" || rule === undefined
      ? undefined
      : rule === true
        ? "The credential of a run may call it."
        : `The credential of a run may call it ${rule.only}.`;
  const sentences = [description, forRuns].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? {} : { description: sentences.join(" ") };
}

const isTaken = ({ response }: Exchange): boolean => response.status < 400;

/** As OpenAPI has examples: by name, without those that have no body. */
function bodiesOf(
  exchanges: Exchanges,
  matches: (exchange: Exchange) => boolean,
  side: (exchange: Exchange) => { readonly body?: unknown },
): Record<string, { value: unknown }> {
  const chosen = Object.entries(exchanges).filter(
    ([, exchange]) => matches(exchange) && side(exchange).body !== undefined,
  );
  return Object.fromEntries(
    chosen.map(([name, exchange]) => [name, { value: side(exchange).body }]),
  );
}

/** The parameters of an object, each with what the plainest example gives it. */
function withParameterExamples(
  { shape }: z.ZodObject,
  values: Readonly<Record<string, string>> = {},
): z.ZodObject {
  const parameters = Object.entries(shape).map(([name, schema]) => {
    const value = values[name];
    if (value === undefined || !(schema instanceof z.ZodType)) return [name, schema] as const;
    const { override } = schema.meta() ?? {};
    const isInteger = typeof override === "object" && override.type === "integer";
    return [name, schema.meta({ param: { example: isInteger ? Number(value) : value } })] as const;
  });
  return z.object(Object.fromEntries(parameters));
}

function securityOf({ auth }: Contract): Record<string, string[]>[] {
  if (auth === "none") return [];
  const either: Record<string, string[]>[] = [{ apiKey: [] }, { bearer: [] }];
  return auth === "optional" ? [{}, ...either] : either;
}

const json = (schema: z.ZodType, examples: Record<string, { value: unknown }>) => ({
  "application/json": { schema, ...withExamples(examples) },
});

const withExamples = (examples: Record<string, { value: unknown }>) =>
  Object.keys(examples).length > 0 ? { examples } : {};

type StatusKey = `${2 | 3 | 4 | 5}${string}`;

function statusKey(code: number): StatusKey {
  const key = String(code);
  const isKey = (text: string): text is StatusKey => /^[2-5]\d\d$/.test(text);
  if (!isKey(key)) throw new Error(`${key} is no status of an answer`);
  return key;
}

const answeredWith = (exchanges: Exchanges, status: number) =>
  bodiesOf(
    exchanges,
    ({ response }) => response.status === status,
    ({ response }) => response,
  );

function successes(contract: Contract, exchanges: Exchanges): ZodOpenApiResponsesObject {
  const described: ZodOpenApiResponsesObject = {};
  for (const [code, success] of Object.entries(contract.responses)) {
    const { description, headers = [], schema, stream, bytes } = success;
    const examples = answeredWith(exchanges, Number(code));
    const content = {
      ...(schema ? json(schema, examples) : {}),
      ...(stream ? { "text/event-stream": { schema: z.string(), ...withExamples(examples) } } : {}),
      // As OpenAPI 3.1 describes bytes: a media type without a schema.
      ...Object.fromEntries(
        (bytes ?? []).map((type) => [type, type.startsWith("text/") ? withExamples(examples) : {}]),
      ),
    };
    described[statusKey(Number(code))] = {
      description,
      headers: z.object({
        ...everyAnswer,
        ...(contract.auth === "none" ? {} : ofLimits),
        ...(contract.idempotent ? { "idempotency-replayed": replayed } : {}),
        ...Object.fromEntries(headers.map((name) => [name, ofSomeAnswers[name]])),
      }),
      ...(schema || stream || bytes ? { content } : {}),
    };
  }
  return described;
}

function failures(contract: Contract, exchanges: Exchanges): ZodOpenApiResponsesObject {
  const described: ZodOpenApiResponsesObject = {};
  const byStatus = Map.groupBy(errorCodes(contract), (code) => statusOf[code]);
  for (const [code, names] of [...byStatus].sort(([one], [other]) => one - other)) {
    described[statusKey(code)] = {
      description: names.map((name) => `\`${name}\``).join(", "),
      headers: z.object({
        ...everyError,
        ...(contract.auth === "none" ? {} : ofLimits),
        ...(contract.idempotent ? { "idempotency-replayed": replayed } : {}),
        ...Object.assign({}, ...names.map((name) => headersOfError[name] ?? {})),
      }),
      content: json(errorSchemas[contract.family], answeredWith(exchanges, code)),
    };
  }
  return described;
}

/** What the wrapper can answer for this contract, and what the contract adds. */
function errorCodes(contract: Contract): ErrorCode[] {
  const codes = new Set<ErrorCode>(["internal"]);
  if (contract.auth !== "none") codes.add("unauthorized").add("rate_limited").add("unavailable");
  if (contract.params || contract.query || contract.body) codes.add("invalid_request");
  if (contract.body) codes.add("invalid_json").add("payload_too_large");
  // Everywhere some credential is refused, be it only one that was found in a sandbox.
  if (contract.auth !== "none" || contract.runCredential === undefined) codes.add("forbidden");
  if (contract.artistAccess) codes.add("not_found");
  if (contract.idempotent) codes.add("conflict").add("idempotency_mismatch");
  for (const code of contract.errors) codes.add(code);
  return [...codes];
}
