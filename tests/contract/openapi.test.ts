import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "../../lib/http/registry.ts";
import { client } from "../support/clients.ts";
import { fillPath, nameOf } from "../support/shapes.ts";

const api = join(import.meta.dirname, "../../app/api");

/** `app/api/keys/[id]/route.ts` as `/api/keys/{id}`; the catch-all is no endpoint. */
const routePaths = readdirSync(api, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.name === "route.ts")
  .map((entry) => relative(api, entry.parentPath))
  .filter((folder) => !folder.includes("[..."))
  .map((folder) => `/api/${folder.replaceAll("[", "{").replaceAll("]", "}")}`)
  .sort();

const operation = z.object({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  responses: z.record(z.string(), z.object({ description: z.string() })),
});
const documentShape = z.object({
  openapi: z.literal("3.1.0"),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({
    securitySchemes: z.object({ apiKey: z.unknown(), bearer: z.unknown() }),
    schemas: z.record(z.string(), z.unknown()),
  }),
});

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
      expect(answer.status, method).toBe(405);
      expect(answer.body).toEqual({ status: "error", error: "Method not allowed" });
      expect(answer.headers.get("allow")).toBe(preflight.headers.get("allow"));
      expect(answer.headers.get("x-error-code")).toBe("method_not_allowed");
    }
  });
});

describe("GET /api/openapi.json", () => {
  it("describes every contract with its success, its errors and its security", async () => {
    const answer = await client().get("/api/openapi.json");
    expect(answer.status).toBe(200);
    const document = documentShape.parse(answer.body);
    for (const contract of contracts) {
      const found = document.paths[contract.path]?.[contract.method.toLowerCase()];
      expect(found, nameOf(contract)).toBeDefined();
      const statuses = Object.keys(found?.responses ?? {});
      expect(statuses).toEqual(expect.arrayContaining(Object.keys(contract.responses)));
      expect(statuses.includes("401")).toBe(contract.auth !== "none");
      expect(found?.security.length).toBe({ required: 2, optional: 3, none: 0 }[contract.auth]);
    }
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("points only at components that exist", async () => {
    const { text, body } = await client().get("/api/openapi.json");
    const components = z.object({ components: z.record(z.string(), z.unknown()) }).parse(body);
    const references = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(0);
    for (const [, group = "", name = ""] of references) {
      expect(components.components[group]).toHaveProperty([name]);
    }
  });
});
