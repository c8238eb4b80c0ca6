/**
 * One task run in a process of its own, which a test can kill: `fork(this file, [accountId, effectId?, atOnce?, idempotencyKey?])`.
 * The run does what it is told by messages, and says how it ended. When it does not begin, because of
 * an earlier run with its effect or of too many others, it says so, and ends.
 */
import { randomUUID } from "node:crypto";
import { on } from "node:events";
import { z } from "zod";
import { appError, isAppError } from "../../../lib/contract/app-error.ts";
import { runTask } from "../../../lib/tasks/run-task.ts";

const order = z.union([
  z.object({ progress: z.record(z.string(), z.unknown()) }),
  z.object({ finish: z.record(z.string(), z.unknown()) }),
  z.object({ fail: z.string() }),
  z.object({ throw: z.string() }),
]);

const messages = on(process, "message");

const started = await runTask(
  {
    accountId: process.argv[2] ?? "",
    effectId: process.argv[3] ?? randomUUID(),
    idempotencyKey: process.argv[5] ?? null,
    maxActiveRuns: Number(process.argv[4] ?? 0),
    costUsd: 0,
    mediaLimitBytes: 0,
    taskIdentifier: "test-task",
    payload: { asked: [null, "for"] },
    metadata: { step: "begun" },
  },
  async (run) => {
    for await (const [message] of messages) {
      const next = order.parse(message);
      if ("finish" in next) return next.finish;
      if ("fail" in next) return appError("upstream_error", next.fail);
      if ("throw" in next) throw new Error(next.throw);
      await run.progress(next.progress);
      process.send?.({ noted: true });
    }
    throw new Error("The test has gone");
  },
);
if (isAppError(started)) {
  process.send?.({ refused: started.message });
} else if ("result" in started) {
  process.send?.({ runId: started.runId });
  await started.result.then(
    (output) => process.send?.(isAppError(output) ? { failed: output.message } : { output }),
    (error: unknown) => process.send?.({ thrown: String(error) }),
  );
} else {
  process.send?.({ earlier: started });
}
process.disconnect();
