import pino from "pino";
import { expect, it } from "vitest";
import { log } from "../src/respond.ts";
import { exchangeOf } from "./exchange.ts";

async function lineOf(status: number, cause: unknown): Promise<Record<string, unknown>> {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const exchange = exchangeOf({
    url: "http://localhost/api/echo?secret=in-the-query",
    headers: { "x-api-key": "in-a-header" },
    body: "in-the-body",
    found: {
      log: logger,
      caller: { accountId: "acting", ownerId: "own" },
    },
  });
  const response = new Response("in-the-answer", { status });
  expect(await log(exchange, async () => ({ response, cause }))).toBe(response);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(/in-(?:the|a)-/);
  return JSON.parse(lines[0] ?? "");
}

it("writes one line for a success, with the route and the account", async () => {
  expect(await lineOf(200, undefined)).toMatchObject({
    level: pino.levels.values.info,
    method: "POST",
    route: "/api/echo",
    status: 200,
    ms: expect.any(Number),
    accountId: "acting",
    msg: "request",
  });
});

it("says why a request was refused", async () => {
  expect(await lineOf(400, "title is required")).toMatchObject({
    level: pino.levels.values.info,
    error: "title is required",
  });
});

it("writes a failure as an error, with the thrown value", async () => {
  expect(await lineOf(500, new Error("broken"))).toMatchObject({
    level: pino.levels.values.error,
    err: { message: "broken" },
  });
});
