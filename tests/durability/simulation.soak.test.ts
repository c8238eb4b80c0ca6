/**
 * Random commands and faults on two and three servers, with the invariants checked after each.
 * `SOAK_SEED` and `SOAK_ROUNDS` repeat a run; with one round, a seed.
 */
import { randomInt } from "node:crypto";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "./simulation/cluster.ts";
import { pointNames } from "./simulation/faults.ts";
import { planOf, type TurnPlan } from "./simulation/plan.ts";
import { simulate, TIMEOUT_MS } from "./simulation/simulate.ts";

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 1_000);
const { SOAK_SEED } = process.env;
const SEED = Number(SOAK_SEED ?? randomInt(1_000_000));
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

/** One for each record that a dead server must neither lose nor write twice. A seed is repeated without them. */
describe.runIf(SOAK_SEED === undefined)("a simulation of chosen faults", () => {
  it("ends turns at a budget although their server dies with a reservation", () => {
    const turn: TurnPlan = { tools: [1, 1, 1, 1, 1], end: "text", pause: null };
    const post = { name: "post", server: 0, turn } as const;
    return simulate(
      cluster,
      {
        servers: 2,
        commands: [
          { name: "set budget", calls: 1 },
          { name: "crash at", point: "reserve", phase: "after" },
          ...[0, 1, 2].map((chat) => ({ ...post, chat })),
        ],
      },
      "This",
    );
  });

  it("compacts chats although their server dies before and after a summary is recorded", () => {
    const turn: TurnPlan = { tools: [2, 2], end: "text", pause: null, contextLimit: 6_500 };
    const post = { name: "queue", chat: 0, turn, onBusy: "enqueue" } as const;
    const crash = { name: "crash at", point: "record compaction" } as const;
    return simulate(
      cluster,
      {
        servers: 2,
        commands: [
          { ...post, server: 0 },
          { ...crash, phase: "after" },
          ...[0, 1, 0, 1].map((server) => ({ ...post, server })),
          { ...crash, phase: "before" },
          ...[0, 1, 0, 1].map((server) => ({ ...post, server })),
          { name: "compact", chat: 0, server: 0 },
          { name: "compact", chat: 1, server: 1 },
        ],
      },
      "This",
    );
  });

  it("ends runs with valid outputs although their server dies at a submission and at the end", () => {
    const submit = (server: number, ...outputs: unknown[]) =>
      ({ name: "submit", server, outputs }) as const;
    const points = ["complete step", "finish tool", "finish turn"] as const;
    return simulate(
      cluster,
      {
        servers: 2,
        commands: points.flatMap((point) => [
          { name: "crash at", point, phase: "after" } as const,
          submit(0, "none", 1),
          submit(1, "none", "none", "none", "none", 1),
        ]),
      },
      "This",
    );
  });

  it("runs what was approved although servers die with the question, the wait and the answer", () => {
    const turn: TurnPlan = { tools: [1], end: "text", pause: null };
    const post = { name: "queue", chat: 3, server: 0, turn, onBusy: "enqueue" } as const;
    const points = ["ask approvals", "suspend turn", "answer approvals"] as const;
    return simulate(
      cluster,
      {
        servers: 2,
        commands: [
          ...points.flatMap((point) => [
            { name: "crash at", point, phase: "after" } as const,
            post,
            { name: "decide", server: 1, approved: true, also: "opposite" } as const,
          ]),
        ],
      },
      "This",
    );
  });

  it("stores the files of all chats although servers die before and after they note and store them", () => {
    const turn: TurnPlan = { tools: [1, 1], end: "text", pause: null };
    const points = ["use workspace", "store file", "save checkout"] as const;
    return simulate(
      cluster,
      {
        servers: 3,
        commands: points.flatMap((point, server) => [
          { name: "crash at", point, phase: "before" } as const,
          { name: "crash at", point, phase: "after" } as const,
          ...[0, 1, 2].map((chat) => ({ name: "post", chat, server, turn }) as const),
          { name: "let a minute pass" } as const,
        ]),
      },
      "This",
    );
  });

  it("ends a turn at its limit although servers die with its reservation and its note", () => {
    const turn: TurnPlan = { tools: [1, 1, 1, 1, 1], end: "text", pause: null };
    const of = { chat: 0, server: 0 };
    return simulate(
      cluster,
      {
        servers: 2,
        commands: [
          { name: "set limit", ...of, calls: 3 },
          { name: "crash at", point: "note limit", phase: "after" },
          { name: "post", ...of, turn },
          { name: "crash at", point: "reserve", phase: "after" },
          { name: "post", ...of, turn },
        ],
      },
      "This",
    );
  });
});

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

  it.runIf(SOAK_SEED === undefined)("passes every point at which it can fail", () => {
    expect([...cluster.faults.seen].sort()).toEqual([...pointNames].sort());
  });
});
