/** OpenAPI 3.1, from the contracts and from nothing else. */
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import type { ErrorCode } from "./app-error.ts";
import type { Contract, ErrorFamily } from "./contract.ts";
import { statusOf } from "./error-response.ts";

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

const requestId = z.string().meta({
  description: "The caller's `x-request-id`, or a new one.",
  header: { id: "x-request-id" },
});
const errorCode = z
  .enum(Object.keys(statusOf))
  .meta({ description: "A stable word for the kind of error.", header: { id: "x-error-code" } });

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
const replayed = z
  .literal("true")
  .optional()
  .meta({ description: "Set on a repeated answer.", header: { id: "idempotency-replayed" } });

const successHeaders = z.object({ "x-request-id": requestId });
const idempotentHeaders = successHeaders.extend({ "idempotency-replayed": replayed });
const errorHeaders = successHeaders.extend({ "x-error-code": errorCode });

export function describeApi(contracts: readonly Contract[], serverUrl: string | undefined) {
  const paths: ZodOpenApiPathsObject = {};
  for (const contract of contracts) {
    const methods = paths[contract.path] ?? {};
    paths[contract.path] = { ...methods, [contract.method.toLowerCase()]: operation(contract) };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Agent Platform API",
      version: "1.0.0",
      description:
        "Send exactly one credential: an API key in `x-api-key`, or a bearer token. " +
        "Every response carries `x-request-id`, every error `x-error-code`.",
    },
    servers: [{ url: serverUrl ?? "/" }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
      },
    },
  });
}

function operation(contract: Contract): ZodOpenApiOperationObject {
  const { params, query, body } = contract;
  return {
    operationId: operationId(contract),
    summary: contract.summary,
    ...(contract.description ? { description: contract.description } : {}),
    tags: [contract.tag],
    security: securityOf(contract),
    requestParams: {
      ...(params ? { path: params } : {}),
      ...(query instanceof z.ZodObject ? { query } : {}),
      ...(contract.idempotent ? { header: z.object({ "idempotency-key": idempotencyKey }) } : {}),
    },
    ...(body
      ? { requestBody: { required: !body.safeParse({}).success, content: json(body) } }
      : {}),
    responses: { ...failures(contract), ...successes(contract) },
  };
}

/** `post_api_keys_id_rotate`: unique, because method and path together are. */
function operationId({ method, path }: Contract): string {
  return [method.toLowerCase(), ...path.split(/[^A-Za-z0-9]+/).filter(Boolean)].join("_");
}

function securityOf({ auth }: Contract): Record<string, string[]>[] {
  if (auth === "none") return [];
  const either: Record<string, string[]>[] = [{ apiKey: [] }, { bearer: [] }];
  return auth === "optional" ? [{}, ...either] : either;
}

const json = (schema: z.ZodType) => ({ "application/json": { schema } });

type StatusKey = `${2 | 3 | 4 | 5}${string}`;

function statusKey(code: number): StatusKey {
  const key = String(code);
  const isKey = (text: string): text is StatusKey => /^[2-5]\d\d$/.test(text);
  if (!isKey(key)) throw new Error(`${key} is no status of an answer`);
  return key;
}

function successes({ responses, idempotent }: Contract): ZodOpenApiResponsesObject {
  const described: ZodOpenApiResponsesObject = {};
  for (const [code, { description, schema, stream, bytes }] of Object.entries(responses)) {
    const content = {
      ...(schema ? json(schema) : {}),
      ...(stream ? { "text/event-stream": { schema: z.string() } } : {}),
      // As OpenAPI 3.1 describes bytes: a media type without a schema.
      ...Object.fromEntries((bytes ?? []).map((type) => [type, {}])),
    };
    described[statusKey(Number(code))] = {
      description,
      headers: idempotent ? idempotentHeaders : successHeaders,
      ...(schema || stream || bytes ? { content } : {}),
    };
  }
  return described;
}

function failures(contract: Contract): ZodOpenApiResponsesObject {
  const described: ZodOpenApiResponsesObject = {};
  const byStatus = Map.groupBy(errorCodes(contract), (code) => statusOf[code]);
  for (const [code, names] of [...byStatus].sort(([one], [other]) => one - other)) {
    described[statusKey(code)] = {
      description: names.map((name) => `\`${name}\``).join(", "),
      headers: errorHeaders,
      content: json(errorSchemas[contract.family]),
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
  if (contract.accountAccess || contract.organizationAccess || contract.runKey === false) {
    codes.add("forbidden");
  }
  if (contract.artistAccess) codes.add("not_found");
  if (contract.idempotent) codes.add("conflict").add("idempotency_mismatch");
  for (const code of contract.errors) codes.add(code);
  return [...codes];
}
