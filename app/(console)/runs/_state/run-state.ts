/** The labels of agent runs. */
import type { z } from "zod";
import type { Run } from "@/lib/running-turn/run.ts";
import type { runItem } from "@/lib/turns/run-contract.ts";
import type { RunState, RunTone } from "./task-run-state.ts";

export type RunItem = z.output<typeof runItem>;
export type RunKind = RunItem["kind"];

const states = {
  queued: ["Queued", "neutral"],
  running: ["Running", "accent"],
  requires_action: ["Needs action", "warning"],
  completed: ["Completed", "success"],
  failed: ["Failed", "danger"],
  cancelled: ["Cancelled", "neutral"],
} as const satisfies Record<Run["status"], readonly [string, RunTone]>;

export const RUN_KIND_LABELS: Readonly<Record<RunKind, string>> = {
  chat: "Chat",
  headless: "Background",
  task: "Scheduled",
};

export function runStateOf({ status, finishedAt }: Pick<Run, "status" | "finishedAt">): RunState {
  const [label, tone] = states[status];
  return { label, tone, isActive: finishedAt === null };
}

type Times = Pick<Run, "createdAt" | "finishedAt">;

/** Returns the duration of an ended run, or the time since an active one was created, in milliseconds. */
export const runDurationOf = ({ createdAt, finishedAt }: Times, now: number): number =>
  Math.max(0, (finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(createdAt));
