/** The plan of a simulation: commands of plain values, made from a seed. */
import * as fc from "fast-check";
import { type Phase, type Point, pointNames } from "./faults.ts";

/** Where the model, or a command in the sandbox, waits until the simulation releases it. */
export const PAUSES = ["before", "text", "input", "called", "command"] as const;

export interface TurnPlan {
  /** How many tools each model call asks for; one more model call gives the answer. */
  readonly tools: readonly number[];
  readonly end: "text" | "question" | "failure";
  readonly pause: { readonly step: number; readonly where: (typeof PAUSES)[number] } | null;
  /** The token limit of its requests, which causes compaction; absent for the whole context. */
  readonly contextLimit?: number;
}

/** `chat` and `server` select from the ones in existence when the command runs. */
interface Target {
  readonly chat: number;
  readonly server: number;
}

/** An answer to a request, and another one at the same time. */
export interface Decision {
  readonly approved: boolean;
  readonly also: "nothing" | "same" | "opposite";
}

export type Command =
  | (Target & { readonly name: "post"; readonly turn: TurnPlan })
  /** A message that waits for the active turn, steers it or stops it. */
  | (Target & {
      readonly name: "queue";
      readonly turn: TurnPlan;
      readonly onBusy: "enqueue" | "steer" | "interrupt";
    })
  /** Two servers at once get a message each, or the same one. */
  | (Target & { readonly name: "race"; readonly turn: TurnPlan; readonly same: boolean })
  /** Sends another message in place of the newest that the chat shows. */
  | (Target & { readonly name: "edit"; readonly turn: TurnPlan })
  /** Regenerates the newest message that the chat shows, or shows an earlier branch. */
  | (Target & { readonly name: "regenerate" | "switch" })
  /** Sends the chat's newest message again, or another text under its id. */
  | (Target & { readonly name: "retry" | "reuse id" })
  /** Reads the running turn, or by its run one that was read before, from an index on. */
  | (Target & { readonly name: "resume"; readonly from: number; readonly byRun: boolean })
  /** Answers the question that the chat's newest turn has asked. */
  | (Target & { readonly name: "answer" })
  | (Target & { readonly name: "stop" | "compact" })
  /** Starts a run that submits these outputs, of which only numbers are valid; with a command before that asks. */
  | {
      readonly name: "submit";
      readonly server: number;
      readonly outputs: readonly unknown[];
      readonly asks?: boolean;
    }
  /** Answers the newest request for an approval of the account, if there is one. */
  | (Decision & { readonly name: "decide"; readonly server: number })
  /** Changes the policy of the chat whose commands must be approved. */
  | { readonly name: "set policy"; readonly server: number; readonly policy: "ask" | "deny" }
  /** Each later turn of the chat may cost about so many model calls; null removes the limit. */
  | (Target & { readonly name: "set limit"; readonly calls: number | null })
  /** Lets the turn go on that is paused. */
  | (Target & { readonly name: "proceed" })
  | (Target & { readonly name: "delete"; readonly what: "chat" | "session" })
  /** Replaces the caller's key: runs started with the old one end. */
  | (Target & { readonly name: "revoke key" })
  /** The sender of an invitation loses the right to it while it is accepted at another server. */
  | (Target & { readonly name: "remove inviter" | "demote inviter" })
  | (Target & { readonly name: "crash" | "drain" })
  /** The next statement of this kind ends its server, breaks its connection or takes long. */
  | {
      readonly name: "crash at" | "drain at" | "cut at" | "stall at";
      readonly point: Point;
      readonly phase: Phase;
    }
  | (Target & { readonly name: "fence" | "lose notifications" | "slow down" })
  | { readonly name: "crash database" | "let a minute pass" }
  /** The account gets a budget for about so many more model calls; null removes it. */
  | { readonly name: "set budget"; readonly calls: number | null };

const choice = fc.nat(11);
const target = { chat: choice, server: choice };

const turn: fc.Arbitrary<TurnPlan> = fc.record({
  tools: fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 2 }),
  end: fc.oneof(
    { weight: 5, arbitrary: fc.constant("text" as const) },
    { weight: 3, arbitrary: fc.constant("question" as const) },
    { weight: 1, arbitrary: fc.constant("failure" as const) },
  ),
  pause: fc.option(
    fc.record({ step: fc.nat(2), where: fc.constantFrom(...PAUSES) }),
    // Null is as likely as two pauses together.
    { freq: 3, nil: null },
  ),
  contextLimit: fc.constantFrom(undefined, 7_000, 8_000),
});

const outputs = fc.array(fc.constantFrom<unknown>("none", 1, 2), { maxLength: 5 });

const fault = { point: fc.constantFrom(...pointNames), phase: fc.constantFrom("before", "after") };

const named = <N extends string>(...names: N[]) => ({ name: fc.constantFrom(...names) });
const post = fc.record({ ...named("post"), ...target, turn });

const weighted: readonly (readonly [number, fc.Arbitrary<Command>])[] = [
  [20, post],
  [3, fc.record({ ...named("race"), ...target, turn, same: fc.boolean() })],
  [
    10,
    fc.record({
      ...named("queue"),
      ...target,
      turn,
      onBusy: fc.constantFrom("enqueue" as const, "steer" as const, "interrupt" as const),
    }),
  ],
  [3, fc.record({ ...named("edit"), ...target, turn })],
  [4, fc.record({ ...named("regenerate", "switch"), ...target })],
  [14, fc.record({ ...named("retry", "answer", "stop"), ...target })],
  [3, fc.record({ ...named("compact"), ...target })],
  [6, fc.record({ ...named("submit"), server: choice, outputs, asks: fc.boolean() })],
  [
    12,
    fc.record({
      ...named("decide"),
      server: choice,
      approved: fc.boolean(),
      also: fc.constantFrom("nothing" as const, "same" as const, "opposite" as const),
    }),
  ],
  [
    3,
    fc.record({
      ...named("set policy"),
      server: choice,
      policy: fc.constantFrom("ask" as const, "deny" as const),
    }),
  ],
  [2, fc.record({ ...named("reuse id"), ...target })],
  [6, fc.record({ ...named("resume"), ...target, from: fc.nat(20), byRun: fc.boolean() })],
  [8, fc.record({ ...named("proceed"), ...target })],
  [2, fc.record({ ...named("delete"), ...target, what: fc.constantFrom("chat", "session") })],
  [3, fc.record({ ...named("revoke key", "remove inviter", "demote inviter"), ...target })],
  [8, fc.record({ ...named("crash at", "drain at", "cut at", "stall at"), ...fault })],
  [6, fc.record({ ...named("crash", "drain", "fence"), ...target })],
  [3, fc.record({ ...named("lose notifications", "slow down"), ...target })],
  [3, fc.record({ ...named("crash database", "let a minute pass") })],
  [4, fc.record({ ...named("set limit"), ...target, calls: fc.option(fc.nat(3), { nil: null }) })],
  [5, fc.record({ ...named("set budget"), calls: fc.option(fc.nat(3), { freq: 4, nil: null }) })],
];

const command = fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));

export interface Plan {
  /** The number of servers at the start. */
  readonly servers: number;
  /** The first one is a message. */
  readonly commands: readonly Command[];
}

/** Returns the same plan for the same arguments. */
export function planOf(seed: number, length: number): Plan {
  const commands = fc.array(command, { minLength: length - 1, maxLength: length - 1, size: "max" });
  const [plan] = fc.sample(fc.tuple(post, commands), { seed, numRuns: 1 });
  if (!plan) throw new Error("fast-check has made no sample");
  // Seeds in a row share their servers.
  return { servers: 2 + (Math.floor(seed / 10) % 2), commands: [plan[0], ...plan[1]] };
}
