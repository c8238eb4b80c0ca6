import { expect, it } from "vitest";
import { throttle } from "../src/pipeline.ts";
import { exchangeOf } from "./exchange.ts";

const rate = { by: "address", limit: 60, remaining: 0, reset: 30, retry_after: null } as const;

it("refuses a request beyond the limit with 429 and says when to try again", async () => {
  const exchange = exchangeOf({ found: { rate: { ...rate, retry_after: 7 } } });
  expect(await throttle(exchange)).toMatchObject({
    code: "rate_limited",
    message: "Too many requests",
    headers: {
      "retry-after": "7",
      ratelimit: '"address";r=0;t=30',
      "ratelimit-policy": '"address";q=60;w=60',
    },
  });
});

it("admits a request within the limit, and one that no limit applies to", async () => {
  expect(await throttle(exchangeOf({ found: { rate } }))).toBeUndefined();
  expect(await throttle(exchangeOf())).toBeUndefined();
});
