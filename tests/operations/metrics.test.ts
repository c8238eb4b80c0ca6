/** Metrics of this process, as an SDK collects them. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { FairQueue } from "@platform/kit/fair-queue";
import { observe } from "@platform/kit/telemetry/metrics";
import { providers } from "@platform/kit/telemetry/providers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { observeProcess } from "../../lib/platform/telemetry/observe-process.ts";

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
beforeAll(() => {
  providers().meter = meters.getMeter("test");
});
afterAll(async () => {
  providers().meter = undefined;
  await meters.shutdown();
});

/** The values of each metric. */
async function collect(): Promise<Map<string, number[]>> {
  exporter.reset();
  await meters.forceFlush();
  const found = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  return new Map(
    found
      .flatMap(({ metrics }) => metrics)
      .map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints.map(({ value }) => Number(value)),
      ]),
  );
}

test("a process observes its memory, event loop, files and disk", async () => {
  observeProcess(tmpdir());
  let found = await collect();
  const longest = async () => {
    found = await collect();
    return found.get("nodejs.eventloop.delay.max")?.[0] ?? 0;
  };
  // Again and again, because a block is measured between two turns of the event loop.
  const block = async () => {
    const end = performance.now() + 250;
    while (performance.now() < end);
    await setImmediate();
    await setImmediate();
    return longest();
  };
  await expect.poll(block).toBeGreaterThan(0.2);
  const of = (name: string) => found.get(name)?.[0] ?? Number.NaN;
  expect(of("process.memory.usage")).toBeGreaterThan(10_000_000);
  expect(of("v8js.memory.heap.used")).toBeGreaterThan(1_000_000);
  expect(of("v8js.memory.heap.limit")).toBeGreaterThan(of("v8js.memory.heap.used"));
  expect(of("nodejs.eventloop.delay.max")).toBeGreaterThanOrEqual(of("nodejs.eventloop.delay.p99"));
  expect(of("process.unix.file_descriptor.count")).toBeGreaterThan(3);
  expect(of("system.filesystem.utilization")).toBeGreaterThan(0);
  expect(of("system.filesystem.utilization")).toBeLessThanOrEqual(1);
  // Each export covers its own interval.
  await expect.poll(longest).toBeLessThan(0.2);
});

test("a folder that does not exist has no value, and others have theirs", async () => {
  observe("agent_platform.database.size", async () => {
    throw new Error(join(tmpdir(), "none"));
  });
  observe("agent_platform.inbox.age", async () => 5);
  const found = await collect();
  expect(found.get("agent_platform.database.size") ?? []).toEqual([]);
  expect(found.get("agent_platform.inbox.age")).toEqual([5]);
});

test("a queue says how long its first caller has waited", async () => {
  const queue = new FairQueue({
    name: "of-test",
    slots: 1,
    waitersPerAccount: 5,
    maxWaitMs: 5_000,
  });
  const release = await queue.acquire("one");
  expect((await collect()).get("agent_platform.queue.age")).toEqual([0]);
  const second = queue.acquire("two");
  const third = queue.acquire("three");
  const started = performance.now();
  while (performance.now() < started + 20);
  const [age] = (await collect()).get("agent_platform.queue.age") ?? [];
  expect(age).toBeGreaterThanOrEqual(0.02);
  expect(age).toBeLessThan(5);
  release();
  (await second)();
  (await third)();
  expect((await collect()).get("agent_platform.queue.age")).toEqual([0]);
});
