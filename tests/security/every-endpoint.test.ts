/** `FUZZ_SEED` and `FUZZ_RUNS` repeat a finding of the soak, or search longer. */
import { fuzzEveryEndpoint } from "./fuzz-endpoints.ts";

fuzzEveryEndpoint({
  seed: Number(process.env.FUZZ_SEED ?? 20_261_120),
  runs: Number(process.env.FUZZ_RUNS ?? 2),
});
