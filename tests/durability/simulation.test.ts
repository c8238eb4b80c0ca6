/**
 * Random commands and faults on two and three servers; what must be true is checked after each.
 * `SIMULATION_SEED=… npm test -- tests/durability/simulation.test.ts` repeats a seed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openConversation } from "../support/harness/conversation.ts";
import { type Cluster, startCluster } from "./simulation/cluster.ts";
import { pointNames } from "./simulation/faults.ts";
import { planOf, type TurnPlan } from "./simulation/plan.ts";
import { simulate, TIMEOUT_MS } from "./simulation/simulate.ts";

const { SIMULATION_SEED } = process.env;
const seeds = SIMULATION_SEED === undefined ? [0, 1] : [Number(SIMULATION_SEED)];
/** Few, as the seeds, so they take seconds; the soak test has a thousand of twice the length. */
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

  it.runIf(SIMULATION_SEED === undefined)("passes every point at which it can fail", () => {
    expect([...cluster.faults.seen].sort()).toEqual([...pointNames].sort());
  });
});
