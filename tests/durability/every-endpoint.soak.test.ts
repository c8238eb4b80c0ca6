/** Like tests/security/every-endpoint.test.ts, with a new seed each time and many more requests. */
import { randomInt } from "node:crypto";
import { vi } from "vitest";
import { fuzzEveryEndpoint } from "../security/fuzz-endpoints.ts";

vi.setConfig({ testTimeout: 30 * 60_000 });
fuzzEveryEndpoint({
  seed: Number(process.env.FUZZ_SEED ?? randomInt(1_000_000)),
  runs: Number(process.env.FUZZ_RUNS ?? 500),
});
