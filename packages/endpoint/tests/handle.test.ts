import { expect, it } from "vitest";
import { z } from "zod";
import { appError } from "../src/contract/app-error.ts";
import { handle } from "../src/pipeline.ts";
import { exchangeOf } from "./exchange.ts";

const effect = { id: null, idempotencyKey: null };

it("returns the refusal of the use case", async () => {
  const refusal = appError("not_found", "Session not found");
  expect(await handle(exchangeOf({ handle: async () => refusal }), effect)).toBe(refusal);
});

it("makes a response of a plain success", async () => {
  const exchange = exchangeOf({
    contract: { responses: { 201: { description: "Made", schema: z.object({ id: z.string() }) } } },
    handle: async () => ({ status: 201, body: { id: "1" }, headers: { location: "/1" } }),
  });
  const response = await handle(exchange, effect);
  expect(response).toMatchObject({ status: 201 });
  expect(response).toBeInstanceOf(Response);
  if (!(response instanceof Response)) return;
  expect(response.headers.get("location")).toBe("/1");
  expect(await response.json()).toEqual({ id: "1" });
});

it.each([
  ["a status", { status: 204 }, /^POST \/api\/echo 204 is not in the contract/],
  ["a body", { body: { ok: "no" } }, /^POST \/api\/echo 200 differs from the contract/],
])(
  "fails, where the service checks responses, for %s that the contract does not declare",
  async (...row) => {
    const [, answer, message] = row;
    await expect(handle(exchangeOf({ handle: async () => answer }), effect)).rejects.toThrow(
      message,
    );
  },
);
