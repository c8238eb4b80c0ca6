/** The rows of a run's timeline: when each model call and each tool worked. */
import type { RunStep, RunTrace, SubagentStep } from "@/lib/turns/run-contract.ts";

type ToolCall = RunStep["tool_calls"][number];
type Step = RunStep | SubagentStep;

/** A call that was stopped is recorded as failed. */
export const stateOf = ({ state, error }: ToolCall) =>
  state === "failed" && error !== null && /^Stopped\b/.test(error) ? "stopped" : state;

interface Times {
  readonly id: string;
  /** 0 for the run's model calls, 1 for its tools, and 2 and 3 for the same within a subagent. */
  readonly depth: number;
  /** In milliseconds since the run was created. */
  readonly start: number;
  readonly end: number;
  /** True while it still works: `end` is then the present. */
  readonly isOpen: boolean;
}

export type Span = Times &
  (
    | { readonly kind: "wait" }
    | {
        readonly kind: "model";
        readonly number: number;
        readonly step: Step | null;
        /** Where the API has the call, below the steps of its run; absent while the model answers. */
        readonly address?: string;
      }
    | { readonly kind: "tool"; readonly call: ToolCall }
  );

/** A start that is shorter is not worth a row. */
const MIN_WAIT_MS = 20;

/** Returns the rows of a run, with a subagent's rows below its call. @param now in milliseconds */
export function spansOf({ run, steps }: RunTrace, now: number): Span[] {
  const origin = Date.parse(run.createdAt);
  const runEnd = run.finishedAt === null ? now : Date.parse(run.finishedAt);
  const since = (date: string) => Math.max(0, Date.parse(date) - origin);
  const isRunning = run.finishedAt === null;
  const spans: Span[] = [];
  const firstStart = steps[0]?.started_at ?? null;
  const waited = firstStart === null ? runEnd - origin : since(firstStart);
  if (waited >= MIN_WAIT_MS && (firstStart !== null || isRunning)) {
    const isOpen = firstStart === null;
    spans.push({ kind: "wait", id: "wait", depth: 0, start: 0, end: waited, isOpen });
  }
  const addStep = (step: Step, prefix = "", depth = 0, address = `${step.index}`) => {
    if (step.started_at === null) return;
    const asked = since(step.finished_at ?? step.started_at);
    spans.push({
      ...{ kind: "model", id: `${prefix}step-${step.index}`, depth, number: step.index + 1 },
      ...{ step, address, start: since(step.started_at), end: asked, isOpen: false },
    });
    for (const call of step.tool_calls as ToolCall[]) {
      const isOpen = call.finished_at === null && call.started_at !== null && isRunning;
      const start = call.started_at === null ? asked : since(call.started_at);
      const end =
        call.finished_at === null ? (isOpen ? now - origin : start) : since(call.finished_at);
      const id = `${prefix}tool-${step.index}-${call.id}`;
      spans.push({ kind: "tool", id, depth: depth + 1, call, start, end, isOpen });
      const query = `tool_call_id=${encodeURIComponent(call.id)}`;
      for (const nested of call.steps ?? []) {
        const nestedAddress = `${step.index}?${query}&subagent_index=${nested.index}`;
        addStep(nested, `${id}-`, depth + 2, nestedAddress);
      }
    }
  };
  for (const step of steps) addStep(step);
  const last = steps.at(-1);
  const worksOn = last?.tool_calls.some(({ state }) => state === "running" || state === "pending");
  if (isRunning && last && !worksOn) {
    const start = Math.max(...spans.map(({ end }) => end));
    const number = last.index + 2;
    const end = Math.max(start, now - origin);
    const id = `step-${last.index + 1}`;
    const open = { depth: 0, start, end, isOpen: true };
    spans.push({ kind: "model", id, number, step: null, ...open });
  }
  return spans;
}

/** A part of a time axis, in milliseconds since the run was created. */
export type Range = Readonly<{ from: number; to: number }>;

/** Around a step that fills the axis, a margin shows its neighbors. */
const MARGIN = 0.15;
/** A shorter range would show nothing but the step's own bar. */
const MIN_RANGE_MS = 10;

/** Returns the part of a whole axis in which a step is seen well. */
export function rangeAround({ start, end }: Span, whole: Range): Range {
  const margin = Math.max(MIN_RANGE_MS, end - start) * MARGIN;
  return { from: Math.max(whole.from, start - margin), to: Math.min(whole.to, end + margin) };
}

/** Returns at most six round marks of a time axis, in milliseconds. */
export function ticksOf({ from, to }: Range): number[] {
  const length = Math.max(to - from, 1);
  const power = 10 ** Math.floor(Math.log10(length / 5));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => length / one <= 5) ?? length;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}
