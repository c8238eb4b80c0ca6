import { expect, it } from "vitest";
import { z } from "zod";
import { parse } from "../src/pipeline.ts";
import { exchangeOf } from "./exchange.ts";

const declared = {
  params: z.object({ id: z.guid() }),
  query: z.object({ limit: z.string().optional() }),
  body: z.object({ title: z.string().min(3), tag: z.string().optional() }),
};
const ID = "3f333df6-90a4-4fda-8dd3-9485d27cee36";

const given = (changes: { id?: string; query?: string; body?: unknown }) =>
  exchangeOf({
    contract: declared,
    url: `http://localhost/api/echo${changes.query ?? ""}`,
    params: { id: changes.id ?? ID },
    found: { body: { value: changes.body ?? { title: "Tour" } } },
  });

it.each([
  ["a parameter", { id: "x" }, "id must be a valid UUID", ["id"]],
  [
    "a query that cannot be stored",
    { query: "?limit=%00" },
    /^limit must be well-formed/,
    ["limit"],
  ],
  [
    "a field of the body",
    { body: { title: "T" } },
    "title must be at least 3 characters",
    ["title"],
  ],
  ["a body that is no object", { body: [] }, "Request body must be a JSON object", []],
])("refuses %s with 400 and names the field", async (_, changes, message, fields) => {
  expect(await parse(given(changes))).toMatchObject({
    code: "invalid_request",
    message: typeof message === "string" ? message : expect.stringMatching(message),
    fields,
  });
});

it("reports a wrong parameter before a wrong body, and names both", async () => {
  expect(await parse(given({ id: "x", body: {} }))).toMatchObject({
    message: "id must be a valid UUID",
    fields: ["id", "title"],
  });
});

it("keeps the values of the schemas; an optional null counts as absent", async () => {
  const exchange = given({ query: "?limit=5", body: { title: "Tour", tag: null, extra: 1 } });
  expect(await parse(exchange)).toBeUndefined();
  expect(exchange.input).toEqual({
    params: { id: ID },
    query: { limit: "5" },
    body: { title: "Tour" },
    ignored: ["extra"],
  });
});

it("refuses unknown fields and parameters where the request prefers it", async () => {
  const headers = { prefer: "handling=strict" };
  const exchange = given({ query: "?limt=5", body: { title: "Tour", tga: "a" } });
  expect(await parse(exchange)).toBeUndefined();
  expect(exchange.input.ignored).toEqual(["limt", "tga"]);
  const strict = { ...exchange, request: new Request(exchange.request, { headers }) };
  expect(await parse(strict)).toMatchObject({
    code: "invalid_request",
    message: "limt is not a known parameter: did you mean limit?",
    fields: ["limt", "tga"],
  });
});
