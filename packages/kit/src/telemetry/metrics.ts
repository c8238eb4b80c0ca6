/**
 * The metrics of this service. The labels of each are names from fixed lists (routes, statuses, models
 * that are offered), never ids of accounts, chats or turns. docs/operations.md describes them.
 */
import type { Counter, Gauge, Histogram, MetricOptions } from "@opentelemetry/api";
import type { Pool } from "pg";
import { providers } from "./providers.ts";

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const TOKENS = [1, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

interface Metric {
  readonly kind: "counter" | "histogram" | "gauge";
  readonly unit: string;
  readonly description: string;
  readonly boundaries?: readonly number[];
}

const counter = (unit: string, description: string) =>
  ({ kind: "counter", unit, description }) as const;
const gauge = (unit: string, description: string) =>
  ({ kind: "gauge", unit, description }) as const;
const seconds = (description: string) =>
  ({ kind: "histogram", unit: "s", description, boundaries: SECONDS }) as const;

/** Where OpenTelemetry's conventions have a name, it is theirs. */
export const metrics = {
  "http.server.request.duration": seconds("Requests, until their headers are made"),
  "http.client.request.duration": seconds("Requests to vendors, until their headers arrive"),
  "gen_ai.client.operation.duration": seconds("Model calls, until the answer is complete"),
  "gen_ai.client.token.usage": {
    kind: "histogram",
    unit: "{token}",
    description: "Tokens of each model call, with those of subagents and of repeated calls",
    boundaries: TOKENS,
  },
  "agent_platform.model.cost": counter(
    "{USD}",
    "What model calls have cost, where their price is known",
  ),
  "agent_platform.turns.started": counter("{turn}", "Turns that have claimed their chat"),
  "agent_platform.turns.ended": counter("{turn}", "Turns that were stored as ended, by status"),
  "agent_platform.turns.tokens": counter("{token}", "Tokens of ended turns, as they are stored"),
  "agent_platform.turns.active": gauge("{turn}", "Turns that this process executes"),
  "agent_platform.turn.duration": seconds("From the claim to the end of a turn"),
  "agent_platform.turn.first_delta": seconds("From the claim to the first piece of an answer"),
  "agent_platform.turn.step.duration": seconds("Durable steps, each of one model call or several"),
  "agent_platform.tool.duration": seconds("Calls of the agent's tools"),
  "agent_platform.queue.wait": seconds("Waits for a slot of a queue that accounts share"),
  "agent_platform.queue.waiting": gauge("{caller}", "Callers that wait for a slot"),
  "agent_platform.queue.used": gauge("{slot}", "Slots in use"),
  "agent_platform.queue.slots": gauge("{slot}", "Slots of a queue"),
  "agent_platform.queue.age": gauge("s", "How long the first caller of a queue has waited"),
  "agent_platform.inbox.age": gauge("s", "How long the oldest event has waited for its run"),
  "agent_platform.part.ready": gauge("1", "Whether a part is ready: 1 or 0"),
  "agent_platform.database.size": gauge("By", "The size of the database"),
  "agent_platform.sandbox.processes": gauge("{process}", "Processes of the local sandbox"),
  "agent_platform.runs.freed": counter("{run}", "Runs taken from processes that had died"),
  "agent_platform.runs.handed_over": counter("{run}", "Runs left to other processes by a drain"),
  "agent_platform.runs.adopted": counter("{run}", "Runs without an owner that this process took"),
  "agent_platform.processes.fenced": counter(
    "{process}",
    "Losses of this process's lease, after which others have its runs",
  ),
  "db.client.connection.count": gauge("{connection}", "Connections of a pool, by state"),
  "db.client.connection.max": gauge("{connection}", "The most connections that a pool opens"),
  "db.client.connection.pending_requests": gauge(
    "{request}",
    "Statements that wait for a connection",
  ),
  "process.memory.usage": gauge("By", "Resident memory of the process"),
  "v8js.memory.heap.used": gauge("By", "Used memory of the JavaScript heap"),
  "v8js.memory.heap.limit": gauge("By", "The most memory that the JavaScript heap may use"),
  "nodejs.eventloop.delay.p99": gauge("s", "Time between two samples of the event loop"),
  "nodejs.eventloop.delay.max": gauge("s", "The longest time between two samples"),
  "process.unix.file_descriptor.count": gauge("{file_descriptor}", "Open files and connections"),
  "system.filesystem.utilization": gauge("1", "The used part of the file system of DATA_DIR"),
} as const satisfies Readonly<Record<string, Metric>>;

type Names<K extends Metric["kind"]> = {
  [N in keyof typeof metrics]: (typeof metrics)[N]["kind"] extends K ? N : never;
}[keyof typeof metrics];
type Labels = Readonly<Record<string, string | number>>;

/**
 * Adds to a counter. Prometheus does not count a counter's first export as an increase: one that an
 * alert watches is added 0 at the start.
 */
export function count(name: Names<"counter">, amount: number, labels: Labels = {}): void {
  instrument<Counter>(name)?.add(amount, labels);
}

/** Records one value of a distribution. */
export function record(name: Names<"histogram">, value: number, labels: Labels = {}): void {
  instrument<Histogram>(name)?.record(value, labels);
}

/** Reads a value whenever metrics are exported, for the life of the process. Without one, `read` rejects. */
export function observe(
  name: Names<"gauge">,
  read: () => number | Promise<number>,
  labels: Labels = {},
): void {
  const { meter } = providers();
  if (!meter) return;
  const observed = instrument<ReturnType<typeof meter.createObservableGauge>>(name);
  observed?.addCallback(async (result) => {
    const observing = async () => result.observe(await read(), labels);
    await observing().catch(() => {});
  });
}

/** Observes a pool of connections, for the life of the process. */
export function observePool(name: "engine" | "functions", pool: Pool): void {
  const labels = { "db.client.connection.pool.name": name };
  const idle = { ...labels, "db.client.connection.state": "idle" };
  const used = { ...labels, "db.client.connection.state": "used" };
  observe("db.client.connection.count", () => pool.idleCount, idle);
  observe("db.client.connection.count", () => pool.totalCount - pool.idleCount, used);
  observe("db.client.connection.max", () => pool.options.max ?? 0, labels);
  observe("db.client.connection.pending_requests", () => pool.waitingCount, labels);
}

/** Returns a function that records the seconds since this call. */
export function startTimer(name: Names<"histogram">): (labels: Labels) => void {
  if (!providers().meter) return () => {};
  const started = performance.now();
  return (labels) => record(name, (performance.now() - started) / 1_000, labels);
}

/** Returns undefined while no SDK has started. */
function instrument<T extends Counter | Histogram | Gauge | object>(
  name: keyof typeof metrics,
): T | undefined {
  const { meter, instruments: known } = providers();
  if (!meter) return undefined;
  let found = known.get(name);
  if (!found) {
    const metric: Metric = metrics[name];
    const { kind, unit, description, boundaries } = metric;
    const options: MetricOptions = {
      unit,
      description,
      ...(boundaries && { advice: { explicitBucketBoundaries: [...boundaries] } }),
    };
    if (kind === "counter") found = meter.createCounter(name, options);
    else if (kind === "histogram") found = meter.createHistogram(name, options);
    else found = meter.createObservableGauge(name, options);
    known.set(name, found);
  }
  // The name says which kind of instrument it is.
  return found as T;
}
