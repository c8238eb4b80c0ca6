/**
 * Random commands and faults on two and three servers; what must be true is checked after each.
 * `SOAK_SEED` and `SOAK_ROUNDS` repeat a run; with one round, a seed.
 */
import { randomInt } from "node:crypto";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Cluster, startCluster } from "./simulation/cluster.ts";
import { planOf } from "./simulation/plan.ts";
import { simulate, TIMEOUT_MS } from "./simulation/simulate.ts";

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 1_000);
const SEED = Number(process.env.SOAK_SEED ?? randomInt(1_000_000));
const COMMANDS = 12;
const REPORT_EVERY = 25;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** Reports on a long run, and its failures, before its end, which is when the test runner does. */
const failed: number[] = [];
function report(round: number): void {
  const failures = failed.length === 0 ? "none failed" : `failed: ${failed.join(", ")}`;
  console.log(`${round} of ${ROUNDS} seeds, from ${SEED} on: ${failures}`);
}

describe("a simulation", () => {
  it.each(Array.from({ length: ROUNDS }, (_, round) => ({ round: round + 1, seed: SEED + round })))(
    "of seed $seed",
    async ({ round, seed }) => {
      const file = "tests/durability/simulation.soak.test.ts";
      const replay = `SOAK_SEED=${seed} SOAK_ROUNDS=1 npm run soak -- ${file}`;
      try {
        await simulate(cluster, planOf(seed, COMMANDS), replay);
      } catch (error) {
        failed.push(seed);
        report(round);
        console.log(inspect(error, { depth: 10, maxStringLength: 2_000 }));
        throw error;
      }
      if (round % REPORT_EVERY === 0) report(round);
    },
    TIMEOUT_MS,
  );
});
