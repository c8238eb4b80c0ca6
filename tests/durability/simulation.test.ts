/**
 * Random commands and faults on two and three servers, with the invariants checked after each.
 * `SIMULATION_SEED=… npm test -- tests/durability/simulation.test.ts` repeats a seed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openConversation } from "../support/harness/conversation.ts";
import { type Cluster, startCluster } from "./simulation/cluster.ts";
import { planOf } from "./simulation/plan.ts";
import { simulate, TIMEOUT_MS } from "./simulation/simulate.ts";

const { SIMULATION_SEED } = process.env;
const seeds = SIMULATION_SEED === undefined ? [0, 1] : [Number(SIMULATION_SEED)];
/** Few, like the seeds, so they take seconds. The soak test has a thousand seeds of twice the length, and chosen faults. */
const COMMANDS = 6;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

describe("a simulation", () => {
  it.each(seeds)(
    "of seed %i",
    (seed) => {
      const replay = `SIMULATION_SEED=${seed} npm test -- tests/durability/simulation.test.ts`;
      return simulate(cluster, planOf(seed, COMMANDS), replay);
    },
    TIMEOUT_MS,
  );

  it("repeats a step whose chunks were not written, although its model is silent", () =>
    simulate(
      cluster,
      {
        servers: 1,
        commands: [
          { name: "cut at", point: "write chunks", phase: "before" },
          {
            name: "post",
            chat: 0,
            server: 0,
            turn: { tools: [], end: "text", pause: { step: 0, where: "before" } },
          },
        ],
      },
      "This",
    ));

  it("frees a chat whose claim was made, but answered to nobody", async () => {
    cluster.heal();
    const { server } = await cluster.pick(0);
    const chat = await openConversation(await cluster.workspace.createCaller(server.url));
    cluster.faults.arm({ point: "claim", phase: "after", effect: "cut" });
    expect((await chat.send("Hello")).status).toBe(503);
    const next = await chat.send("Hello again");
    expect(next.status).toBe(200);
    await next.ended;
    expect((await chat.stop()).body).toMatchObject({ stopped: false });
  });
});
