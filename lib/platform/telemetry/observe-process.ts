import { readdir, statfs } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { observe } from "@platform/kit/telemetry/metrics";

/** Observes the memory, the event loop, the open files and the disk of this process, for its life. */
export function observeProcess(dataDir: string): void {
  observe("process.memory.usage", () => process.memoryUsage.rss());
  observe("v8js.memory.heap.used", () => getHeapStatistics().used_heap_size);
  observe("v8js.memory.heap.limit", () => getHeapStatistics().heap_size_limit);
  // In nanoseconds.
  const delay = monitorEventLoopDelay();
  delay.enable();
  observe("nodejs.eventloop.delay.max", () => delay.max / 1e9);
  observe("nodejs.eventloop.delay.p99", () => {
    const p99 = delay.percentile(99) / 1e9;
    // It is read after the maximum, in the order of the calls here: each export covers its own interval.
    delay.reset();
    return p99;
  });
  // The folder exists only on Linux and macOS.
  observe("process.unix.file_descriptor.count", async () => (await readdir("/dev/fd")).length);
  observe("system.filesystem.utilization", async () => {
    const { bavail, blocks } = await statfs(dataDir);
    return 1 - bavail / blocks;
  });
}
