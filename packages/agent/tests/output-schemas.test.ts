/** JSON Schemas of outputs: which ones are accepted, and that they distinguish valid from invalid values. */

import { FairQueue } from "@platform/kit/fair-queue";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect, it } from "vitest";
import { hostileSchemas, outputSchemas } from "../../../tests/support/fixtures/output-schemas.ts";
import { checkOutput, checkSchema } from "../src/output/check-output.ts";
import { faultOfSchema, isWrapped, toolInputOf } from "../src/output/json-schema.ts";
import { faultOfDialect, validate } from "../src/output/validate-output.ts";

const queue = new FairQueue({ name: "test", slots: 2, waitersPerAccount: 10, maxWaitMs: 60_000 });
const work = { queue, accountId: "a" };
/** For what would take years: it is stopped at any time. */
const endless = { ...work, timeoutMs: 300 };
const { signal } = new AbortController();

const errorsOf = (schema: Readonly<Record<string, unknown>>, value: unknown) => {
  let errors: readonly string[] = [];
  const isValid = validate(schema, value, "", (found) => {
    errors = found;
  });
  expect(errors.length === 0).toBe(isValid);
  return errors;
};

it.each(outputSchemas)("$name: is accepted, and tells valid from invalid", (row) => {
  const { schema, valid, invalid } = row;
  expect(faultOfSchema(schema)).toBeNull();
  expect(faultOfDialect(schema)).toBeNull();
  expect(errorsOf(schema, valid)).toEqual([]);
  if (invalid !== undefined) expect(errorsOf(schema, invalid)).not.toEqual([]);
});

it.each(outputSchemas)("$name: as the input of a tool it says the same", ({ schema, ...row }) => {
  const input = toolInputOf(schema);
  expect(input.type).toBe("object");
  for (const keyword of ["$schema", "$id", "$ref", "anyOf", "oneOf", "allOf", "enum"]) {
    expect(input).not.toHaveProperty([keyword]);
  }
  const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6, ownProperties: true });
  (addFormats as unknown as typeof addFormats.default)(ajv);
  const isValid = ajv.compile(input);
  const inputOf = (value: unknown) => (isWrapped(schema) ? { output: value } : value);
  expect(isValid(inputOf(row.valid))).toBe(true);
  // This engine, which is another one, would need years for the pattern.
  if (row.invalid === undefined || row.name.startsWith("a pattern that backtracks")) return;
  expect(isValid(inputOf(row.invalid))).toBe(false);
});

it.each(hostileSchemas)("%s is refused", async (_, schema, reason) => {
  const fault = await checkSchema({ ...work, schema });
  expect(fault).toContain(reason);
});

it("stops a validation that takes too long, and no one waits for it", async () => {
  const schema = { type: "string", pattern: "((a{0,30}){0,30})$" };
  expect(await checkSchema({ ...work, schema })).toBeNull();
  const value = `${"a".repeat(200_000)}b`;
  let turns = 0;
  const timer = setInterval(() => turns++, 4);
  const submitted = { value, root: "" };
  const errors = await checkOutput({ ...endless, schema }, submitted, signal);
  clearInterval(timer);
  expect(errors).toEqual(["The output could not be validated in time. Submit a smaller one"]);
  // The event loop has not been blocked.
  expect(turns).toBeGreaterThan(20);
});

it("matches each of several patterns", () => {
  const schema = {
    properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } },
    patternProperties: { "^c": { pattern: "^c$" } },
  };
  expect(errorsOf(schema, { a: "a", b: "b", c: "c" })).toEqual([]);
  expect(errorsOf(schema, { a: "b", b: "a", cc: "a" })).toHaveLength(3);
});

it("fails if the worker does, because the output is not at fault", async () => {
  const submitted = { value: 1, root: "" };
  const schema = { type: "nothing that checkSchema accepts" };
  await expect(checkOutput({ ...work, schema }, submitted, signal)).rejects.toThrow();
});

it("stops unions that take exponential time", async () => {
  const schema = {
    anyOf: Array.from({ length: 3 }, (_, n) => ({
      type: "object",
      properties: { next: { $ref: "#" }, end: { const: n } },
      required: ["end"],
    })),
  };
  expect(await checkSchema({ ...work, schema })).toBeNull();
  let value: object = { end: 7 };
  for (let depth = 0; depth < 40; depth++) value = { next: value, end: 7 };
  const submitted = { value, root: "" };
  const errors = await checkOutput({ ...endless, schema }, submitted, signal);
  expect(errors).not.toEqual([]);
});

it("names the place and the problem of each error", async () => {
  const schema = {
    type: "object",
    properties: {
      lines: { type: "array", items: { enum: ["a", "b"] } },
      total: { type: "number" },
    },
    required: ["total"],
    additionalProperties: false,
  };
  const submitted = { value: { lines: ["a", "c"], more: 1 }, root: "/output" };
  expect(await checkOutput({ ...work, schema }, submitted, signal)).toEqual([
    "/output must have required property 'total'",
    '/output must NOT have additional properties: "more"',
    '/output/lines/1 must be equal to one of the allowed values: ["a","b"]',
  ]);
});

it("refuses an output that is too large", async () => {
  const submitted = { value: "x".repeat(300 * 1024), root: "" };
  const errors = await checkOutput({ ...work, schema: {} }, submitted, signal);
  expect(errors).toEqual(["The output must be at most 256 kB of JSON"]);
});
