import { execFileSync } from "node:child_process";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { superviseWorker } from "@platform/kit/supervise-worker";
import { expect, it, onTestFinished } from "vitest";

it("ends the wait for a thread that is held up in the system, and cannot be asked how long it has run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "supervise-worker-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const code = `require("node:fs").readFileSync(${JSON.stringify(pipe)})`;
  const worker = new Worker(code, { eval: true });
  // Opens when the thread has opened it, which then waits until this end is closed.
  const writer = await open(pipe, "w");
  onTestFinished(() => writer.close());
  expect(await superviseWorker(worker, () => false, { timeoutMs: 50 })).toBe("late");
});

it("gives a thread that has run for less than its time some more", async () => {
  const code = `
    const { parentPort } = require("node:worker_threads");
    setTimeout(() => parentPort.postMessage("done"), 1_500)`;
  const worker = new Worker(code, { eval: true });
  const isLast = (message: unknown) => message === "done";
  expect(await superviseWorker(worker, isLast, { timeoutMs: 1_200 })).toBe("answered");
});
