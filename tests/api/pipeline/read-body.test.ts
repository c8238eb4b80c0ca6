import { expect, it } from "vitest";
import { z } from "zod";
import { readBody } from "../../../lib/http/pipeline.ts";
import { exchangeOf } from "../../support/harness/exchange.ts";

const declared = { body: z.unknown(), bodyLimit: 100 };
const bodyless = {};

const given = (body: BodyInit, headers: Record<string, string> = {}) =>
  exchangeOf({ contract: declared, body, headers });

it("refuses a body that declares more bytes than the limit, without reading it", async () => {
  const exchange = given("{}", { "content-length": "101" });
  expect(await readBody(exchange)).toMatchObject({ code: "payload_too_large" });
  expect(exchange.request.bodyUsed).toBe(false);
});

it("refuses a body that exceeds the limit while it is read, and cancels it", async () => {
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(40)),
    cancel: () => {
      cancelled = true;
    },
  });
  expect(await readBody(given(endless))).toMatchObject({ code: "payload_too_large" });
  expect(cancelled).toBe(true);
});

it.each([
  ["is not JSON", "{", "invalid_json"],
  ["is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "invalid_json"],
  ["holds NUL", '"\\u0000"', "invalid_request"],
  ["has too many values", "[1,2,3,4]", "invalid_request"],
])("refuses a body that %s", async (_, body, code) => {
  expect(await readBody(given(body))).toMatchObject({ code });
});

it("refuses a body that is too deep", async () => {
  const exchange = exchangeOf({
    contract: { body: z.unknown() },
    body: "[".repeat(101) + "]".repeat(101),
  });
  expect(await readBody(exchange)).toMatchObject({
    code: "invalid_request",
    message: "Request body must be at most 100 levels deep",
  });
});

it("takes an empty body as an empty object", async () => {
  const exchange = given("");
  expect(await readBody(exchange)).toBeUndefined();
  expect(exchange.body).toEqual({ value: {} });
});

it("keeps the body, or the refusal, that an earlier stage has read", async () => {
  const early = exchangeOf({ contract: declared, found: { body: { value: 1 } } });
  expect(await readBody(early)).toBeUndefined();
  expect(early.body).toEqual({ value: 1 });
});

it("reads no body where the contract has none", async () => {
  const exchange = exchangeOf({ contract: bodyless, body: "{" });
  expect(await readBody(exchange)).toBeUndefined();
  expect(exchange.request.bodyUsed).toBe(false);
});
