/** The OpenAPI document as the API reference of the console shows it: flat rows instead of schemas. */

import { type ErrorCode, statusOf } from "@platform/endpoint/contract/app-error";
import { curl } from "@platform/endpoint/openapi/curl";
import type { Operation } from "@platform/endpoint/openapi/operation";
import { errorCodes } from "@platform/endpoint/openapi/responses";
import type { oas32 } from "zod-openapi";
import { describeService, tags } from "@/lib/openapi/document.ts";
import { examples } from "@/lib/openapi/examples.ts";
import { operations } from "@/lib/openapi/registry.ts";

export interface ReferenceField {
  /** Dotted, with `[]` after a list: `messages[].id`. */
  readonly name: string;
  /** Such as `string (uuid)` or `"image" | "video"`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

export type ReferenceOperation = ReturnType<typeof describeOperation>;
export type ReferenceSection = ReturnType<typeof describeReference>[number];

type Schema = oas32.SchemaObject | oas32.ReferenceObject;
type SchemaValue = Exclude<oas32.SchemaObject, boolean>;

/** Deeper fields are left to the document itself. */
const MAX_DEPTH = 4;

const document = describeService({});
const schemas: Readonly<Record<string, Schema>> = document.components?.schemas ?? {};

export const referenceIntroduction = document.info.description ?? "";

export const describeReference = () =>
  Object.entries(tags).map(([tag, about]) => ({
    tag,
    about,
    operations: operations
      .filter(({ contract }) => contract.tag === tag)
      .toSorted((one, other) => addressOf(one).localeCompare(addressOf(other)))
      .map(describeOperation),
  }));

/** Groups the operations of one resource, and puts lists before their items. */
const addressOf = ({ contract: { path, method } }: Operation): string => `${path} ${method}`;

function describeOperation({ id, contract }: Operation) {
  const { method, path, summary, auth } = contract;
  const verb = method.toLowerCase() as Lowercase<typeof method>;
  const operation = document.paths?.[path]?.[verb];
  const body = operation?.requestBody;
  /** The first recorded request and its answer. */
  const example = Object.values(examples[id] ?? {})[0];
  return {
    id,
    contract: { method, path, summary, auth },
    description: operation?.description,
    parameters: (operation?.parameters ?? []).flatMap(describeParameter),
    body: body && "content" in body ? fieldsOf(jsonSchemaOf(body.content)) : [],
    /** Without the errors. */
    answers: Object.entries(operation?.responses ?? {})
      .filter(([status]) => status in contract.responses)
      .map(([status, answer]) => ({
        status,
        description: "description" in answer ? answer.description : "",
        fields: "content" in answer ? fieldsOf(jsonSchemaOf(answer.content)) : [],
      })),
    /** In the order of their statuses. An error has the same content everywhere, as in its example. */
    errors: errorCodes(contract)
      .map((code) => ({ status: statusOf[code], code, meaning: errorMeanings[code] }))
      .toSorted((one, other) => one.status - other.status),
    example,
    /** Returns the example's request to the service at `origin`. */
    curl: example && ((origin: string) => curl(contract, example.request, origin)),
  };
}

function jsonSchemaOf(content: oas32.ContentObject | undefined): Schema | undefined {
  const json = content?.["application/json"];
  return json && "schema" in json ? json.schema : undefined;
}

/** A parameter that every operation has is left out: the introduction names it. */
function describeParameter(
  parameter: oas32.ParameterObject | oas32.ReferenceObject,
): ReferenceField[] {
  if (!("name" in parameter)) return [];
  const { name, in: place, schema, required, description } = parameter;
  return [
    {
      name,
      type: `${schema === undefined ? "string" : typeOf(schema)}, in the ${place}`,
      isRequired: required === true,
      description,
    },
  ];
}

function fieldsOf(schema: Schema | undefined, prefix = "", depth = 0): ReferenceField[] {
  if (schema === undefined || depth === MAX_DEPTH) return [];
  const value = resolve(schema);
  const branches = value.anyOf ?? value.oneOf ?? value.allOf;
  if (branches) return unique(branches.flatMap((branch) => fieldsOf(branch, prefix, depth)));
  if (value.items) return fieldsOf(value.items, `${prefix}[]`, depth);
  return Object.entries(value.properties ?? {}).flatMap(([key, property]) => {
    // The field must be absent.
    if ("not" in resolve(property)) return [];
    const name = prefix === "" ? key : `${prefix}.${key}`;
    const field = {
      name,
      type: typeOf(property),
      isRequired: value.required?.includes(key) ?? false,
      description: resolve(property).description,
    };
    return [field, ...fieldsOf(property, name, depth + 1)];
  });
}

const unique = (fields: readonly ReferenceField[]): ReferenceField[] => [
  ...new Map(fields.map((field) => [field.name, field])).values(),
];

function resolve(schema: Schema): SchemaValue {
  if (typeof schema === "boolean") return {};
  if (schema.$ref === undefined) return schema;
  const target = schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)];
  return target === undefined ? {} : resolve(target);
}

function typeOf(schema: Schema): string {
  const value = resolve(schema);
  const branches = value.anyOf ?? value.oneOf;
  if (branches) return [...new Set(branches.map(typeOf))].join(" | ");
  if (value.const !== undefined) return JSON.stringify(value.const);
  if (value.enum) return value.enum.map((one: unknown) => JSON.stringify(one)).join(" | ");
  const name = [value.type ?? "any"].flat().join(" | ");
  if (name === "array") return `list of ${value.items ? typeOf(value.items) : "any"}`;
  const details = [value.format, ...boundsOf(value)].filter((detail) => detail !== undefined);
  return details.length === 0 ? name : `${name} (${details.join(", ")})`;
}

function boundsOf(value: SchemaValue): string[] {
  const least = value.minLength ?? value.minimum;
  const most = value.maxLength ?? value.maximum;
  const isSafeInteger = most === Number.MAX_SAFE_INTEGER;
  return [
    ...(least === undefined || least === -Number.MAX_SAFE_INTEGER ? [] : [`at least ${least}`]),
    ...(most === undefined || isSafeInteger ? [] : [`at most ${most}`]),
    ...(value.default === undefined ? [] : [`default ${JSON.stringify(value.default)}`]),
  ];
}

/** The causes of each error, for the reference. docs/guides/errors.md has the remedies. */
const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "A parameter or a field is missing or invalid. The message names it.",
  invalid_json: "The body is not valid JSON.",
  sandbox_missing: "The session has no sandbox yet.",
  unauthorized: "There is no credential, more than one, or one that is not valid.",
  budget_reached: "The account has spent its monthly budget.",
  unpriced_model:
    "The price of the model is not known, so it cannot count against the monthly budget.",
  forbidden: "The credential may not do this.",
  access_denied: "The account has no access to the account or organization that the request names.",
  not_owner: "Only an owner may do this.",
  quota_exceeded: "The account has as many of these as it may have.",
  messages_full: "The account has no room for more messages.",
  chat_full: "The chat has no room for more messages.",
  sandboxes_full: "The account has no room for more files in its sandboxes.",
  media_full: "The account has no room for more images and videos.",
  organization_full: "The organization has as many members as it may have.",
  not_found: "It does not exist, or it belongs to another account.",
  parent_not_found: "`parentId` is not a message of the chat.",
  method_not_allowed: "The path has no such method.",
  conflict: "The current state does not allow this, or somebody else has just changed it.",
  stream_active: "The chat is answering another message.",
  message_id_taken: "The id of the message belongs to an answer of the chat.",
  message_differs: "A message with this id and other content is stored.",
  parent_differs: "The message is stored after another one than `parentId`.",
  already_answered: "The question or the call of a tool has been answered already.",
  run_stopped: "The key that started the run has ended, or its account has lost the artist.",
  idempotency_in_progress: "A request with this `Idempotency-Key` is still running.",
  payload_too_large: "The body, or what it decodes to, is larger than the endpoint takes.",
  unsupported_media_type: "The `Content-Encoding` of the body is not gzip, deflate or br.",
  range_not_satisfiable: "The range is outside of the file.",
  idempotency_mismatch: "The `Idempotency-Key` belongs to a request with another body.",
  rate_limited: "There are too many requests. `retry-after` says how many seconds to wait.",
  too_many_turns: "The account has as many active turns as it may have.",
  queue_full: "As many messages wait in the chat as may wait.",
  too_many_generations: "The account has as many images and videos in the making as it may have.",
  too_many_attempts: "The verification code was guessed wrong too often.",
  too_many_invitations: "The organization has sent too many invitations within an hour.",
  internal: "The service has failed unexpectedly.",
  not_implemented: "This installation does not offer it.",
  upstream_error: "A service behind the API has failed.",
  upstream_timeout: "A service behind the API has not answered in time.",
  not_configured: "The operator has not configured a service that this needs.",
  unavailable: "The service cannot answer at the moment, for example while its database is away.",
};
