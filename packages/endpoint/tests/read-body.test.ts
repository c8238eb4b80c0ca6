import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isAppError } from "../src/contract/app-error.ts";
import { readBody } from "../src/pipeline.ts";
import { decodeBody, readBody as readJson } from "../src/read-input.ts";
import { exchangeOf } from "./exchange.ts";

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

it.each([
  ...["hello", "{'a':1}", "{}{}", '{"a":1,}', '{"a":NaN}', '{"a":"\u0001"}', "a=1&b=2"].map(
    (text) => [text, "invalid_json"] as const,
  ),
  ...['"\\ud800"', '"a\\uDC00b"', '{"\\u0000":1}', '{"a":[{"b":["\\u0000"]}]}'].map(
    (text) => [text, "invalid_request"] as const,
  ),
])("refuses %s", async (body, code) => {
  const exchange = exchangeOf({ contract: { body: z.unknown() }, body });
  expect(await readBody(exchange)).toMatchObject({ code });
});

it("takes the names of prototypes as any other", async () => {
  const exchange = exchangeOf({ contract: { body: z.unknown() }, body: '{"__proto__":{"a":1}}' });
  expect(await readBody(exchange)).toBeUndefined();
  expect(Object.prototype).not.toHaveProperty("a");
});

describe("a body with a coding", () => {
  const value = { text: "Nightjar" };
  const text = JSON.stringify(value);
  /** Reads a body as the pipeline does. */
  async function read(body: BodyInit, coding: string, limit = 100) {
    const exchange = given(body, { "content-encoding": coding });
    const decoded = decodeBody(exchange.request, limit);
    return isAppError(decoded) ? decoded : readJson(decoded, 100);
  }

  it.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP ", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
  ])("is decoded: %s", async (coding, body) => {
    expect(await read(new Uint8Array(body), coding)).toEqual({ value });
  });

  it.each(["zstd", "compress", "gzip, br", "constructor", "gzip;q=1"])(
    "is refused with 415: %s",
    async (coding) => {
      expect(await read(text, coding)).toMatchObject({ code: "unsupported_media_type" });
    },
  );

  const bomb = "a".repeat(10_000_000);
  it.each([
    ["gzip", gzipSync(bomb)],
    ["deflate", deflateSync(bomb)],
    ["br", brotliCompressSync(bomb)],
  ])("is refused when it decodes to too much: %s", async (coding, body) => {
    const refused = await read(new Uint8Array(body), coding, 1_000_000);
    expect(refused).toMatchObject({ code: "payload_too_large" });
  });

  it("is refused when it decodes to nothing without end", async () => {
    const head = gzipSync("").subarray(0, 10);
    // Empty blocks that are not the last.
    const blocks = Buffer.from([0, 0, 0, 0xff, 0xff]);
    let isFirst = true;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(isFirst ? head : blocks);
        isFirst = false;
      },
    });
    expect(await read(endless, "gzip")).toMatchObject({ code: "payload_too_large" });
  });

  it.each([
    ["is not what it says", "gzip", Buffer.from("{}")],
    ["is not what it says, in Brotli", "br", Buffer.from("{}{}{}")],
    ["is cut", "gzip", gzipSync(text).subarray(0, 20)],
    ["is cut, in Brotli", "br", brotliCompressSync(text).subarray(0, 8)],
  ])("is refused when it %s", async (_, coding, body) => {
    expect(await read(new Uint8Array(body), coding)).toMatchObject({
      code: "invalid_request",
      message: "The request body is not encoded as Content-Encoding says",
    });
  });
});

it.each([101, 50_000])("refuses a body of %i levels", async (depth) => {
  const exchange = exchangeOf({
    contract: { body: z.unknown() },
    body: "[".repeat(depth) + "]".repeat(depth),
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
