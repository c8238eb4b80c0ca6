/**
 * Optional fields of every body take `null` as absent, and the OpenAPI document says so. Every field of
 * every body and query is accepted in camelCase and in snake_case.
 */

import { isAppError } from "@platform/endpoint/contract/app-error";
import { otherSpelling } from "@platform/endpoint/contract/normalize-input";
import { validator } from "@platform/endpoint/read-input";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeService } from "../../lib/openapi/document.ts";
import { examples } from "../../lib/openapi/examples.ts";
import { operations } from "../../lib/openapi/registry.ts";

const property = z.looseObject({
  type: z.unknown().optional(),
  not: z.unknown().optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.looseObject({ type: z.string().optional() })).optional(),
});
const objectSchema = z.looseObject({
  properties: z.record(z.string(), property),
  required: z.array(z.string()).default([]),
});
/** Of an object, or of each kind of it. */
const bodySchema = z.union([
  objectSchema.transform((one) => [one]),
  z.object({ oneOf: z.array(objectSchema) }).transform(({ oneOf }) => oneOf),
  // An object, or a batch of them.
  z.object({ anyOf: z.tuple([objectSchema, z.unknown()]) }).transform(({ anyOf: [one] }) => [one]),
]);
const record = z.record(z.string(), z.unknown());

const document = describeService(examples);
const withBody = operations.filter(({ contract }) => contract.body !== undefined);

/** Of each kind of the body: the optional fields, and the value of `kind` if there are several. */
function kindsOf(id: string) {
  const all = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path));
  const found = z
    .array(z.looseObject({ operationId: z.string().optional() }))
    .parse(all.filter((one) => typeof one === "object" && !Array.isArray(one)))
    .find(({ operationId }) => operationId === id);
  const { requestBody } = z
    .looseObject({
      requestBody: z.object({
        content: z.object({ "application/json": z.object({ schema: bodySchema }) }),
      }),
    })
    .parse(found);
  // A forbidden field is described by `not`, and is not an optional field.
  return requestBody.content["application/json"].schema.map(({ properties, required }) => ({
    kind: properties.kind?.const,
    optional: Object.entries(properties).filter(
      ([name, one]) => !required.includes(name) && one.not === undefined,
    ),
  }));
}

/** Bodies that were taken, as they were recorded. */
const takenBodies = (id: string): Record<string, unknown>[] =>
  Object.values(examples[id] ?? {})
    .filter(({ request, response }) => response.status < 300 && request.body !== undefined)
    .map(({ request }) => record.parse(request.body));

describe.each(withBody.map((operation) => [operation.id, operation] as const))(
  "%s",
  (id, { contract }) => {
    const kinds = kindsOf(id);
    const optional = kinds.flatMap((kind) => kind.optional);
    const namesFor = (body: Record<string, unknown>) =>
      kinds.flatMap(({ kind, optional }) =>
        body.kind === kind ? optional.map(([name]) => name) : [],
      );
    const validate = validator({ ...contract, params: undefined, query: undefined });
    const parse = (body: unknown) => validate({ params: undefined, query: undefined, body });

    it("describes every optional field as one that may be null", () => {
      const silent = optional.filter(([, { type, anyOf }]) =>
        type !== undefined
          ? ![type].flat().includes("null")
          : anyOf?.every((one) => one.type !== "null"),
      );
      expect(silent.map(([name]) => name)).toEqual([]);
    });

    it("takes null in any of them as it takes a body without them", () => {
      const bodies = [{}, ...takenBodies(id)];
      const bodyWithNames = fc
        .constantFrom(...bodies)
        .chain((body) => fc.tuple(fc.constant(body), fc.subarray(namesFor(body))));
      fc.assert(
        fc.property(bodyWithNames, ([body, chosen]) => {
          const absent = Object.fromEntries(
            Object.entries(body).filter(([name]) => !chosen.includes(name)),
          );
          const nulls = { ...absent, ...Object.fromEntries(chosen.map((name) => [name, null])) };
          const [expected, given] = [parse(absent), parse(nulls)];
          if (isAppError(expected)) expect(given).toEqual(expected);
          else expect(withoutNullValues(given)).toEqual(withoutNullValues(expected));
        }),
      );
    });
  },
);

const parts = operations.flatMap(({ id, contract }) =>
  (["query", "body"] as const).flatMap((part) => {
    const schema = contract[part];
    return schema ? [[`${id} ${part}`, part, schema, contract] as const] : [];
  }),
);

it.each(parts)("%s: every field has two spellings", (_, part, schema, contract) => {
  const { properties = {} } = z
    .looseObject({ properties: z.record(z.string(), z.unknown()).optional() })
    .parse(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  const validate = validator({
    ...contract,
    params: undefined,
    query: undefined,
    body: undefined,
    [part]: schema,
  });
  const parse = (given: object) =>
    validate({ params: undefined, query: undefined, body: undefined, [part]: given });
  for (const name of Object.keys(properties)) {
    const other = otherSpelling(name);
    expect(otherSpelling(other)).toBe(name);
    if (other === name) continue;
    for (const value of [null, 7, "text", ["text"], "2f6e83b3-0000-4000-8000-000000000000"]) {
      expect(parse({ [other]: value })).toEqual(parse({ [name]: value }));
      expect(parse({ [other]: value, [name]: value })).toEqual(parse({ [name]: value }));
    }
    expect(parse({ [name]: "one", [other]: "two" })).toMatchObject({
      code: "invalid_request",
      message: `${name} and ${other} must not differ`,
      fields: [name],
    });
  }
});

it("reaches the fields of each kind of a body", () => {
  const created = operations.find(({ id }) => id === "createTrigger");
  if (!created) throw new Error("There are no triggers");
  const validate = validator({ ...created.contract, params: undefined, query: undefined });
  const parse = (body: object) => validate({ params: undefined, query: undefined, body });
  const given = { kind: "webhook", secretInUrl: true, signature: null };
  expect(parse(given)).toEqual(parse({ kind: "webhook", secret_in_url: true }));
  expect(isAppError(parse(given))).toBe(false);
});

it("reaches the fields inside of a body", () => {
  const started = operations.find(({ contract }) => contract.path === "/api/chat");
  if (!started) throw new Error("There is no chat");
  const validate = validator({ ...started.contract, params: undefined, query: undefined });
  const parse = (more: object, context: object) =>
    validate({
      params: undefined,
      query: undefined,
      body: {
        sessionId: "2f6e83b3-0000-4000-8000-000000000000",
        chatId: "2f6e83b3-0000-4000-8000-000000000001",
        messages: [{ id: "m1", content: "Hello", ...more }],
        context,
      },
    });
  expect(parse({ role: null, parts: null }, { contextLimit: null })).toEqual(parse({}, {}));
  expect(parse({}, { context_limit: 5 })).toEqual(parse({}, { contextLimit: 5 }));
  expect(isAppError(parse({}, {}))).toBe(false);
});

/** A schema that defines a meaning for null keeps it; in none does null mean more than absent. */
const withoutNullValues = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (one === null ? undefined : one)));
