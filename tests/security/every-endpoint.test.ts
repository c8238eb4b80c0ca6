/** `FUZZ_SEED` and `FUZZ_RUNS` repeat what the soak has found, or look further. */
import { fuzzEveryEndpoint } from "./fuzz-endpoints.ts";

fuzzEveryEndpoint({
  seed: Number(process.env.FUZZ_SEED ?? 20_261_120),
  runs: Number(process.env.FUZZ_RUNS ?? 2),
});
