/** The checks that observe every test (tests/support/harness/observe-answers.ts) detect violations. */
import { describe, expect, inject, test } from "vitest";
import { type Exchange, faultOf } from "../support/harness/published.ts";

const document = inject("published");
const json = { "x-request-id": "1", "content-type": "application/json" };
const as = (
  method: string,
  path: string,
  status: number,
  body: unknown,
  headers = {},
): Exchange => ({
  method,
  path,
  status,
  headers: new Headers({ ...json, ...headers }),
  text: JSON.stringify(body),
});
const done = { status: "success" };
const aKey = "/api/keys/2f6e83b3-0000-4000-8000-000000000000";
const missing = { status: "error", error: "Key not found" };

describe("an answer as it is published is taken", () => {
  test.each([
    ["a success", as("DELETE", aKey, 200, done)],
    ["an error", as("DELETE", aKey, 404, missing, { "x-error-code": "not_found" })],
    ["an unknown path", as("GET", "/api/x", 404, missing, { "x-error-code": "not_found" })],
    ["a wrong method", as("GET", aKey, 405, missing, { "x-error-code": "method_not_allowed" })],
  ])("%s", (_, exchange) => {
    expect(faultOf(exchange, document)).toBeNull();
  });
});

describe("any other is seen", () => {
  const keys = { status: "success", keys: [] };
  test.each([
    ["a key more", as("DELETE", aKey, 200, { ...done, more: 1 })],
    ["a key less", as("DELETE", aKey, 200, {})],
    [
      "a key more, far inside",
      as("GET", "/api/health", 200, {
        status: "ok",
        parts: [{ name: "model", adapter: "x", more: 1 }],
      }),
    ],
    ["a value of another type", as("GET", "/api/keys", 200, { ...keys, keys: {} })],
    ["a success of another status", as("DELETE", aKey, 201, done)],
    [
      "an error of another status",
      as("DELETE", aKey, 418, missing, { "x-error-code": "not_found" }),
    ],
    ["an error of another code", as("DELETE", aKey, 404, missing, { "x-error-code": "internal" })],
    ["an error without a code", as("DELETE", aKey, 404, missing)],
    [
      "an error of another family",
      as("DELETE", aKey, 404, { error: "Key not found" }, { "x-error-code": "not_found" }),
    ],
    [
      "an error with a key more",
      as("DELETE", aKey, 404, { ...missing, stack: "" }, { "x-error-code": "not_found" }),
    ],
    ["an endpoint that is not there", as("GET", "/api/x", 200, done)],
    ["another content type", as("GET", "/api/keys", 200, keys, { "content-type": "text/html" })],
    ["no request id", { ...as("GET", "/api/keys", 200, keys), headers: new Headers() }],
    ["a body where there is none", as("GET", `/api/chat/${aKey.slice(10)}/stream`, 204, {})],
  ])("%s", (_, exchange) => {
    expect(faultOf(exchange, document)).not.toBeNull();
  });
});
