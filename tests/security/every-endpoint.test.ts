/** `FUZZ_SEED` and `FUZZ_RUNS` repeat what the soak has found, or look further. */
import { driveEveryEndpoint } from "../support/harness/drive-endpoints.ts";

driveEveryEndpoint({
  seed: Number(process.env.FUZZ_SEED ?? 20_261_120),
  runs: Number(process.env.FUZZ_RUNS ?? 25),
});
