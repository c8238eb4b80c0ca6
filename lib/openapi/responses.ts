/** The responses of an operation: those its contract declares, and the errors that follow from it. */
import { z } from "zod";
import type { ZodOpenApiResponsesObject } from "zod-openapi";
import type { ErrorCode } from "../contract/app-error.ts";
import type { Contract, ErrorFamily } from "../contract/contract.ts";
import { statusOf } from "../http/error-response.ts";
import { bodiesOf, json, withExamples } from "./example-bodies.ts";
import type { Exchanges } from "./examples.ts";
import { headersOfErrors, headersOfSuccess } from "./headers.ts";

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
  exchanges: Exchanges,
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
  exchanges: Exchanges,
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
  const codes = new Set<ErrorCode>(["internal"]);
  if (contract.auth !== "none") codes.add("unauthorized").add("rate_limited").add("unavailable");
  if (contract.params || contract.query || contract.body) codes.add("invalid_request");
  if (contract.body) codes.add("invalid_json").add("payload_too_large");
  if (contract.byteBodyLimit !== undefined) codes.add("payload_too_large");
  // Every endpoint refuses some credential, if only one that was found in a sandbox.
  if (contract.auth !== "none" || contract.runCredential === undefined) codes.add("forbidden");
  if (contract.accountAccess || contract.organizationAccess) codes.add("access_denied");
  if (contract.artistAccess) codes.add("not_found");
  if (contract.idempotent) codes.add("idempotency_in_progress").add("idempotency_mismatch");
  for (const code of contract.errors) codes.add(code);
  return [...codes];
}

const bodiesWithStatus = (exchanges: Exchanges, status: number) =>
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
