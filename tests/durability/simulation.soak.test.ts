/**
 * Random commands and faults on two and three servers; what must be true is checked after each.
 * `SOAK_SEED` and `SOAK_ROUNDS` repeat a run; with one round, a seed.
 */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Cluster, startCluster } from "./simulation/cluster.ts";
import { simulate, TIMEOUT_MS } from "./simulation/simulate.ts";

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 1_000);
const SEED = Number(process.env.SOAK_SEED ?? randomInt(1_000_000));

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

describe("a simulation", () => {
  it.each(Array.from({ length: ROUNDS }, (_, round) => SEED + round))(
    "of seed %i",
    (seed) => simulate(cluster, seed),
    TIMEOUT_MS,
  );
});
