import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { Contract } from "@platform/endpoint/contract/contract";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "../../lib/openapi/registry.ts";
import { expectError, fillPath, nameOf } from "../support/fixtures/shapes.ts";
import {
  type ApiDocument,
  type Described,
  type Media,
  readApiDocument,
} from "../support/harness/api-document.ts";
import { client } from "../support/harness/clients.ts";
import { stack } from "../support/harness/stack.ts";

const api = join(import.meta.dirname, "../../app/api");

/** `app/api/keys/[id]/route.ts` as `/api/keys/{id}`; the catch-all is not an endpoint. */
const routePaths = readdirSync(api, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.name === "route.ts")
  .map((entry) => relative(api, entry.parentPath))
  .filter((folder) => !folder.includes("[..."))
  .map((folder) => `/api/${folder.replaceAll("[", "{").replaceAll("]", "}")}`)
  .sort();

describe("contracts and routes", () => {
  it("every route file has contracts, and every contract a route file", () => {
    expect(routePaths).toEqual([...new Set(contracts.map(({ path }) => path))].sort());
  });

  it("no two contracts share a method and a path", () => {
    const names = contracts.map(nameOf);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(routePaths)("%s answers exactly the methods of its contracts", async (path) => {
    const methods = contracts.filter((one) => one.path === path).map(({ method }) => method);
    const expected = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
    const url = fillPath(path, {});
    const preflight = await client().request("OPTIONS", url);
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("allow")?.split(", ").sort()).toEqual(expected.sort());
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      if (expected.includes(method)) continue;
      const answer = await client().request(method, url);
      expectError(answer, 405, "error", "Method not allowed");
      expect(answer.headers.get("allow")).toBe(preflight.headers.get("allow"));
      expect(answer.headers.get("x-error-code")).toBe("method_not_allowed");
    }
  });
});

describe.skipIf(stack.program).each(["/docs/quickstart", "/docs/reference/keys"])(
  "the samples of %s",
  (page) => {
    it("name the origin of the service that shows them", async () => {
      const html = (await client().get(page)).text;
      expect(html).toContain(
        page.includes("reference") ? `curl ${stack.url}/api` : `API=${stack.url}`,
      );
      expect(html).not.toContain("localhost:3000");
    });
  },
);

describe("GET /api/openapi.json", () => {
  let document: ApiDocument;
  beforeAll(async () => {
    document = await readApiDocument();
  });
  const described = ({ method, path }: Contract): Described => {
    const found = document.operations.find((one) => one.method === method && one.path === path);
    if (!found) throw new Error(`${method} ${path} is not described`);
    return found;
  };

  it("is serialized once, and sent again only when it has changed", async () => {
    const url = new URL("/api/openapi.json", client().url);
    const full = await fetch(url);
    const etag = full.headers.get("etag") ?? "";
    expect(await full.json()).toEqual(document.raw);
    const known = await fetch(url, { headers: { "if-none-match": etag } });
    expect([known.status, known.headers.get("etag"), await known.text()]).toEqual([304, etag, ""]);
  });

  it("is valid OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document.raw));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it("has enums and examples of parameters only of the type that their schema states", () => {
    const typed = typedNodes(document.raw);
    expect(typed.length).toBeGreaterThan(100);
    const misfits = typed.filter(
      ({ type, values }) => !values.every((value) => TYPE_OF[type]?.(value) ?? true),
    );
    expect(misfits).toEqual([]);
  });

  it("has an operation for each contract, and none besides", () => {
    const names = document.operations.map(({ method, path }) => `${method} ${path}`);
    expect(names.sort()).toEqual(contracts.map(nameOf).sort());
  });

  it("has unique operation ids, and describes every tag", () => {
    const ids = document.operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
    const tags = document.raw.tags.map(({ name }) => name);
    const used = document.operations.flatMap(({ operation }) => operation.tags);
    expect([...new Set(used)].sort()).toEqual(tags.sort());
  });

  it.each(contracts.map((contract) => [nameOf(contract), contract] as const))(
    "%s documents its parameters, responses and security",
    (_, contract) => {
      const found = described(contract);
      const statuses = Object.keys(found.operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(Object.keys(contract.responses)));
      const refuses = contract.auth !== "none" || contract.errors.includes("unauthorized");
      expect(statuses.includes("401")).toBe(refuses);
      expect(found.operation.security).toHaveLength(
        { required: 2, optional: 3, none: 0 }[contract.auth],
      );
      const takesBody = contract.body !== undefined || contract.byteBodyLimit !== undefined;
      expect(found.operation.requestBody !== undefined).toBe(takesBody);
      for (const parameter of document.parametersOf(found)) {
        expect(parameter.description, parameter.name).not.toBe("");
      }
      for (const status of statuses) {
        const headers = Object.fromEntries(document.headersOf(found, Number(status)));
        expect(headers).toHaveProperty("x-request-id");
        const isFailure = contract.responses[Number(status)] === undefined;
        expect("x-error-code" in headers).toBe(isFailure);
      }
    },
  );

  it.each(contracts.map((contract) => [nameOf(contract), contract] as const))(
    "%s has examples, and each parses by its schema",
    (_, contract) => {
      const found = described(contract);
      const { requestBody, responses } = found.operation;
      const json = requestBody?.content["application/json"];
      if (json) {
        const values = valuesOf(json);
        expect(values).not.toHaveLength(0);
        expectAll(values, document.validator(found, "request"));
      }
      const answered = Object.entries(responses).flatMap(([status, { content = {} }]) => {
        const values = valuesOf(content["application/json"]);
        if (values.length > 0) expectAll(values, document.validator(found, Number(status)));
        return [...values, ...Object.values(content).flatMap(valuesOf)];
      });
      expect(answered).not.toHaveLength(0);
    },
  );
});

const TYPE_OF: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
};

/** Returns the stated type of each schema with an enum and of each parameter with an example, and these values. */
function typedNodes(node: unknown): { type: string; values: unknown[] }[] {
  if (typeof node !== "object" || node === null) return [];
  const { type, enum: options, in: place, example, schema } = node as Record<string, unknown>;
  const ofSchema = typeof type === "string" && Array.isArray(options);
  const ofParameter = place !== undefined && example !== undefined && typeof schema === "object";
  return [
    ...(ofSchema ? [{ type, values: options }] : []),
    ...(ofParameter
      ? [{ type: String(Reflect.get(schema ?? {}, "type")), values: [example] }]
      : []),
    ...Object.values(node).flatMap(typedNodes),
  ];
}

const valuesOf = (media: Media | undefined): unknown[] =>
  Object.values(media?.examples ?? {}).map(({ value }) => value);

function expectAll(values: readonly unknown[], validate: ValidateFunction): void {
  for (const value of values) {
    validate(value);
    expect(validate.errors, JSON.stringify(value).slice(0, 300)).toBeNull();
  }
}
