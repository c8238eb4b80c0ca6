/**
 * Holds a fake against the OpenAPI document that its vendor publishes, trimmed in tests/vendors/openapi:
 * each request to it and each answer of it. A difference fails the test (tests/support/harness/each-file.ts).
 *
 * The check is stricter than the documents are: parameters and fields that they do not name are errors,
 * because an adapter must not rely on them and a fake must not invent them. Deprecated fields may be missing.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { z } from "zod";
import { projectRoot } from "../../../scripts/project-root.ts";

export interface Published {
  /** A file of tests/vendors/openapi, without its extension. */
  readonly document: "composio" | "exa" | "spotify";
  /** The path below which the fake has the paths of the document. Default: none */
  readonly base?: string;
  /** The path below which the fake has no others. Default: none, as where vendors share a fake */
  readonly covers?: string;
  /** Removes from an answer the known differences between the vendor and its own document. */
  readonly asDocumented?: (answer: unknown) => unknown;
}

const schema = z.custom<AnySchemaObject>((value) => typeof value === "object");
const media = z.object({ content: z.object({ "application/json": z.object({ schema }) }) });
const operation = z.object({
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean().optional(),
        explode: z.boolean().optional(),
        schema,
      }),
    )
    .default([]),
  requestBody: media.optional(),
  responses: z.record(z.string(), media),
});
const paths = z.record(z.string(), z.record(z.string(), operation));

const differences: string[] = [];

/** Returns the differences that were found since the last call. */
export const takeDifferences = (): string[] => differences.splice(0);

/** Requests to other services of the fake, such as one that issues tokens, are not checked. */
export function checkOpenApi(published: Published) {
  const { document, base = "", covers, asDocumented = (body) => body } = published;
  const operations = readOperations(document, base);
  return async (request: Request, body: string, response: Response): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url);
    const found = operations.find(
      (one) => one.method === request.method && one.path.test(pathname),
    );
    const isCovered = covers !== undefined && pathname.startsWith(covers);
    if (!found && !isCovered) return;
    const what = `${document}.json, ${request.method} ${pathname}`;
    const answer: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    const wrong = found
      ? {
          "the query": found.checkQuery(searchParams),
          "the body": found.checkBody(body),
          [`the answer ${response.status}`]: found.checkAnswer(
            response.status,
            asDocumented(answer),
          ),
        }
      : { "the path": " is not published" };
    for (const [part, complaint] of Object.entries(wrong)) {
      if (complaint !== undefined) differences.push(`${what}: ${part}${complaint}`);
    }
  };
}

function readOperations(document: string, base: string) {
  const file = join(projectRoot, "tests/vendors/openapi", `${document}.json`);
  const text = JSON.parse(readFileSync(file, "utf8"));
  return Object.entries(paths.parse(inline(text.paths, text))).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => {
      const query = parameters.filter((one) => one.in === "query");
      const checkQuery = compile(queries, {
        type: "object",
        properties: Object.fromEntries(query.map((one) => [one.name, one.schema])),
        required: query.filter(({ required }) => required).map(({ name }) => name),
        additionalProperties: false,
      });
      const checkBody = compile(
        bodies,
        requestBody?.content["application/json"].schema ?? { not: {} },
      );
      const statuses = Object.entries(responses).map(
        ([status, { content }]) =>
          [status, compile(answers, content["application/json"].schema)] as const,
      );
      return {
        method: method.toUpperCase(),
        path: new RegExp(`^${base}${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
        checkQuery: (given: URLSearchParams) => checkQuery(readQuery(given, query)),
        checkBody: (body: string) => (body === "" ? undefined : checkBody(JSON.parse(body))),
        checkAnswer: (status: number, body: unknown) => {
          const check = statuses.find(([name]) => name === String(status))?.[1];
          // Few documents name all errors.
          return check || status >= 400 ? check?.(body) : " has a status that is not published";
        },
      };
    }),
  );
}

/** Replaces references by their targets. */
function inline(value: unknown, document: object): unknown {
  if (Array.isArray(value)) return value.map((one) => inline(one, document));
  if (typeof value !== "object" || value === null) return value;
  const { data } = z.object({ $ref: z.string() }).safeParse(value);
  if (!data) return mapValues(value, (one) => inline(one, document));
  const keys = data.$ref.split("/").slice(1);
  const found = keys.reduce<unknown>((at, key) => Object(at)[key], document);
  return inline(found, document);
}

const options = { strict: false, logger: false, allErrors: true } as const;
/** A query is text, of which "100" is a number. */
const queries = new Ajv2020({ ...options, coerceTypes: "array" });
const bodies = new Ajv2020(options);
for (const ajv of [queries, bodies]) addFormats(ajv);
/** No vendor vouches for the format of a text that it has from others. */
const answers = new Ajv2020({ ...options, validateFormats: false });

function compile(ajv: Ajv2020, given: AnySchemaObject) {
  const isValid = ajv.compile(close(given));
  return (value: unknown): string | undefined => {
    if (isValid(value)) return;
    const errors = isValid.errors ?? [];
    return errors
      .map(
        ({ instancePath, message, params }) =>
          `${instancePath} ${message} ${JSON.stringify(params)}`,
      )
      .join("; ");
  };
}

/** Returns the parameters of a query, of which some are lists with commas. */
const readQuery = (given: URLSearchParams, parameters: z.output<typeof operation>["parameters"]) =>
  Object.fromEntries(
    [...given].map(([name, value]) => {
      const isList = parameters.some((one) => one.name === name && one.explode === false);
      return [name, isList ? value.split(",") : value];
    }),
  );

/**
 * Forbids fields that are not named, where an object is used: not in the parts of a composition, whose
 * other parts name further ones.
 */
function close(given: AnySchemaObject, isPart = false): AnySchemaObject {
  const { properties, required, items, additionalProperties, allOf, anyOf, oneOf } = given;
  const parts = Object.entries({ allOf, anyOf, oneOf }).filter(([, list]) => list !== undefined);
  const isNamed = parts.length > 0 || Object.keys(properties ?? {}).length > 0;
  return {
    ...given,
    ...Object.fromEntries(
      parts.map(([keyword, list]) => [
        keyword,
        list.map((one: AnySchemaObject) => close(one, true)),
      ]),
    ),
    ...(properties && { properties: mapValues(properties, (one) => close(one)) }),
    ...(required && {
      required: required.filter((name: string) => !properties?.[name]?.deprecated),
    }),
    ...(typeof items === "object" && { items: close(items) }),
    ...(isNamed &&
      !isPart &&
      additionalProperties === undefined && { unevaluatedProperties: false }),
  };
}

const mapValues = (given: object, map: (value: AnySchemaObject) => unknown) =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, map(value)]));
