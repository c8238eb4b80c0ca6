/** Unknown fields: where they are detected, whether they are refused or listed, and the error message. */

import { isAppError } from "@platform/endpoint/contract/app-error";
import { otherSpelling } from "@platform/endpoint/contract/normalize-input";
import type { Operation } from "@platform/endpoint/openapi/operation";
import { validator } from "@platform/endpoint/read-input";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeService } from "../../lib/openapi/document.ts";
import { examples } from "../../lib/openapi/examples.ts";
import { operations } from "../../lib/openapi/registry.ts";

interface JsonSchema {
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
  readonly const?: unknown;
}

/** An object that a schema describes, with its fields that have one value. */
interface Place {
  readonly path: readonly string[];
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly schema: JsonSchema;
  /** Returns the input that has an object at this place. */
  readonly inputWith: (object: object) => unknown;
}

function placesIn(
  schema: JsonSchema,
  path: readonly string[] = [],
  inputWith: (value: unknown) => unknown = (value) => value,
): Place[] {
  const options = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const inOptions = options.flatMap((one) => placesIn(one, path, inputWith));
  if (schema.items) return placesIn(schema.items, [...path, "0"], (item) => inputWith([item]));
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0 && schema.additionalProperties === undefined) return inOptions;
  const fixed = Object.fromEntries(
    fields.flatMap(([name, field]) => (field.const === undefined ? [] : [[name, field.const]])),
  );
  const inside = fields.flatMap(([name, field]) =>
    placesIn(field, [...path, name], (value) => inputWith({ ...fixed, [name]: value })),
  );
  return [...inOptions, { path, fixed, schema, inputWith }, ...inside];
}

const { paths } = describeService(examples);
const bodyOf = ({ contract: { path, method } }: Operation): JsonSchema =>
  z
    .object({
      requestBody: z.object({
        content: z.object({ "application/json": z.object({ schema: z.custom<JsonSchema>() }) }),
      }),
    })
    .parse(paths?.[path]?.[method.toLowerCase() as "post"]).requestBody.content["application/json"]
    .schema;

const withBody = operations.filter(({ contract }) => contract.body !== undefined);
const named = withBody.map((operation) => [operation.id, operation] as const);
const bodyValidator = ({ contract }: Operation) => {
  const validate = validator({ ...contract, params: undefined, query: undefined });
  return (body: unknown, isStrict?: boolean) =>
    validate({ params: undefined, query: undefined, body }, isStrict);
};
const find = (name: string): Operation => {
  const operation = operations.find(({ id }) => id === name);
  if (!operation) throw new Error(`There is no ${name}`);
  return operation;
};

const ADDED = "zz_unknown";

describe.each(named)("the body of %s", (_, operation) => {
  const validate = bodyValidator(operation);
  const places = placesIn(bodyOf(operation));

  it("has an unknown field in none of the objects that were recorded", () => {
    for (const { request, response } of Object.values(examples[operation.id] ?? {})) {
      if (response.status >= 300 || request.body === undefined) continue;
      expect(validate(request.body, true)).toMatchObject({ ignored: [] });
    }
  });

  it.each(places.map((place) => [place.path.join("."), place] as const))(
    "finds one in %j, unless any field may be there",
    (_, { path, fixed, schema: { additionalProperties }, inputWith }) => {
      const body = inputWith({ ...fixed, [ADDED]: 1 });
      const field = [...path, ADDED].join(".");
      const isOpen = ![undefined, false].includes(additionalProperties as never);
      const given = validate(body, !operation.contract.strictBody);
      if (isOpen) expect(JSON.stringify(given)).not.toContain(`${field} is not`);
      else {
        expect(given).toMatchObject({
          code: "invalid_request",
          message: `${field} is not a known field`,
          fields: expect.arrayContaining([field]),
        });
      }
      if (operation.contract.strictBody && !isOpen) expect(additionalProperties).toBe(false);
      // An object that is strict itself refuses it in every body.
      if (operation.contract.strictBody || isOpen || additionalProperties === false) return;
      const ignoring = validate(body);
      if (isAppError(ignoring)) expect(ignoring.message).not.toContain(ADDED);
      else expect(ignoring.ignored).toEqual([field]);
    },
  );
});

it("is found in objects that a change can also remove with an empty text, whose fields have two spellings", () => {
  const validate = bodyValidator(find("updateChat"));
  const outcome = { rubric: "Complete", max_iterations: 2 };
  expect(validate({ outcome: { rubric: "Complete", maxIterations: 2 } })).toMatchObject({
    body: { outcome },
  });
  expect(validate({ outcome: { ...outcome, checks: null } })).toMatchObject({ body: { outcome } });
  expect(validate({ network: { mode: "none", host: [] } })).toMatchObject({
    message: "network.host is not a known field: did you mean network.hosts?",
  });
  expect(validate({ outcome: { checks: [{ type: "max_steps", valeu: 3 }] } })).toMatchObject({
    message: "outcome.checks.0.valeu is not a known field: did you mean outcome.checks.0.value?",
    fields: ["outcome.checks.0.valeu", "outcome"],
  });
});

describe("the error of an unknown field", () => {
  const run = { prompt: "Hello" };
  it.each<[object, string]>([
    [{ ...run, approval: {} }, "approval is not a known field: did you mean approvals?"],
    [{ ...run, maxSteps: 1 }, "maxSteps is not a known field: did you mean limits.max_steps?"],
    [{ promt: "Hello" }, "promt is not a known field: did you mean prompt?"],
    [{ ...run, Model: "x" }, "Model is not a known field: did you mean model?"],
    [{ ...run, mode: "x" }, "mode is not a known field: did you mean model?"],
    [{ ...run, TEMPLATEID: "x" }, "TEMPLATEID is not a known field: did you mean template_id?"],
    [
      { ...run, limits: { maxCost: 1 } },
      "limits.maxCost is not a known field: did you mean limits.max_cost_usd?",
    ],
    [{ ...run, limits: { model: "x" } }, "limits.model is not a known field: did you mean model?"],
    [
      { ...run, approvals: { Bash: "ask" } },
      "approvals.Bash is not a known field: did you mean approvals.bash?",
    ],
    [{ ...run, account_id: "x" }, "account_id is not a known field"],
    [{ ...run, "": 1 }, '"" is not a known field'],
    [{ ...run, constructor: 1 }, "constructor is not a known field"],
    [{ ...run, unknown: null }, "unknown is not a known field"],
    [{ ...run, ["x".repeat(300)]: 1 }, `${"x".repeat(200)} is not a known field`],
  ])("%j", (body, message) => {
    const refused = bodyValidator(find("startRun"))(body);
    expect(refused).toMatchObject({ code: "invalid_request", message });
  });

  it("comes after the parameters, names every field, and at most a thousand unknown ones", () => {
    const { contract } = find("updateTask");
    const validate = validator(contract);
    const keys = Array.from({ length: 100_000 }, (_, index) => `promp_${index}`);
    const refused = validate({
      params: { id: "2f6e83b3-0000-4000-8000-000000000000" },
      query: undefined,
      body: { ...Object.fromEntries(keys.map((key) => [key, 1])), title: 1 },
    });
    if (!isAppError(refused)) throw new Error("It was accepted");
    expect(refused.message).toBe("promp_0 is not a known field: did you mean prompt?");
    expect(refused.fields).toEqual([...keys.slice(0, 1_000), "title"]);
    expect(validate({ params: { id: "x" }, query: {}, body: { foo: 1 } })).toMatchObject({
      message: "id must be a valid UUID",
      fields: ["id", "foo"],
    });
  });

  it("calls one of the query a parameter", () => {
    const { contract } = find("listSessions");
    const validate = validator(contract);
    const query = { limt: "5", Limit: "5" };
    expect(validate({ params: undefined, query, body: undefined })).toMatchObject({
      ignored: ["limt", "Limit"],
    });
    expect(validate({ params: undefined, query, body: undefined }, true)).toMatchObject({
      message: "limt is not a known parameter: did you mean limit?",
      fields: ["limt", "Limit"],
    });
  });

  it("leaves a field that must not be given to its own sentence", () => {
    const validate = bodyValidator(find("createKey"));
    for (const name of ["account_id", otherSpelling("account_id")]) {
      expect(validate({ key_name: "mine", [name]: "x" })).toMatchObject({
        message: "account_id must not be provided",
      });
    }
  });
});

describe.each(operations.map((operation) => [operation.id, operation] as const))(
  "the query of %s",
  (_, { contract }) => {
    it("finds unknown parameters, also where there are no known ones", () => {
      const validate = validator({ ...contract, params: undefined, body: undefined });
      const refused = validate(
        { params: undefined, query: { [ADDED]: "1" }, body: undefined },
        true,
      );
      expect(refused).toMatchObject({ message: `${ADDED} is not a known parameter` });
    });
  },
);
