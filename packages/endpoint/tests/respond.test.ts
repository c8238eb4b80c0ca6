import { describe, expect, it } from "vitest";
import { type AppError, appError } from "../src/contract/app-error.ts";
import type { ErrorFamily } from "../src/contract/contract.ts";
import { respond } from "../src/respond.ts";
import { exchangeOf, Outage } from "./exchange.ts";

const refusal = appError("invalid_request", "title is required", { fields: ["title"] });
const rate = { by: "account", limit: 60, remaining: 59, reset: 1, retry_after: null } as const;

const failing = (error: unknown) => () => Promise.reject(error);
const answering = (result: AppError | Response) => async () => result;

it.each<[ErrorFamily, unknown]>([
  ["message", { status: "error", message: "title is required" }],
  ["error", { status: "error", error: "title is required" }],
  ["missing", { status: "error", error: "title is required", missing_fields: ["title"] }],
  ["plain", { error: "title is required" }],
  ["catalog", { error: { status: 400, message: "title is required" } }],
  ["rpc", { jsonrpc: "2.0", id: null, error: { code: -32600, message: "title is required" } }],
])("gives an error the shape of the family %s", async (family, body) => {
  const { response, cause } = await respond(
    exchangeOf({ contract: { family } }),
    answering(refusal),
  );
  expect(response.status).toBe(400);
  expect(response.headers.get("x-error-code")).toBe("invalid_request");
  expect(await response.json()).toEqual(body);
  expect(cause).toBe("title is required");
});

describe("a throw", () => {
  it.each([
    ["a failure that the service knows", new Outage("no"), 503, "unavailable"],
    ["a defect", new Error("secret detail"), 500, "internal"],
    ["anything else", "secret detail", 500, "internal"],
  ])("that is %s becomes an answer without its text", async (_, error, status, code) => {
    const { response, cause } = await respond(exchangeOf(), failing(error));
    expect(response.status).toBe(status);
    expect(response.headers.get("x-error-code")).toBe(code);
    expect(await response.text()).not.toContain("secret detail");
    expect(cause).toBe(error);
  });

  it("after the client has gone is not a failure of the service", async () => {
    const exchange = exchangeOf({ signal: AbortSignal.abort() });
    const { response } = await respond(exchange, failing(new DOMException("gone", "AbortError")));
    expect(response.status).toBe(400);
  });
});

it("adds the shared headers and those of the rate limit to every answer", async () => {
  const exchange = exchangeOf({ headers: { "x-request-id": "mine" }, found: { rate } });
  for (const result of [refusal, new Response("{}", { headers: { "x-own": "1" } })]) {
    const { headers } = (await respond(exchange, answering(result))).response;
    expect(headers.get("x-request-id")).toBe("mine");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("ratelimit")).toBe('"account";r=59;t=1');
  }
});

it("lets an answer be cached that depends on no credential", async () => {
  const exchange = exchangeOf({ contract: { auth: "none" } });
  const { response, cause } = await respond(exchange, answering(new Response("{}")));
  expect(response.headers.get("cache-control")).toBeNull();
  expect(cause).toBeUndefined();
});
