/**
 * One task run in a separate process, which a test can kill: `fork(this file, [accountId, effectId?,
 * atOnce?, idempotencyKey?])`. Messages control the run, which reports how it ended. If it does not start,
 * because of an earlier run with its effect or of too many others, it reports that, and ends.
 */

import { randomUUID } from "node:crypto";
import { on } from "node:events";
import { appError, isAppError } from "@platform/endpoint/contract/app-error";
import { z } from "zod";
import { currentDatabase } from "../../../lib/platform/database/create-database.ts";
import { beginRun, endRun, failureOf, mergeMetadata } from "../../../lib/task-runs/store.ts";
import { WebhookWorker } from "../../../lib/webhooks/webhook-worker.ts";

const db = currentDatabase();
const app = { db, webhookWorker: new WebhookWorker(db) };
const LEASE_SECONDS = 120;

const order = z.union([
  z.object({ progress: z.record(z.string(), z.unknown()) }),
  z.object({ finish: z.record(z.string(), z.unknown()) }),
  z.object({ fail: z.string() }),
]);

const messages = on(process, "message");

const started = await beginRun(db, {
  accountId: process.argv[2] ?? "",
  effectId: process.argv[3] ?? randomUUID(),
  idempotencyKey: process.argv[5] ?? null,
  maxActiveRuns: Number(process.argv[4] ?? 0),
  costUsd: 0,
  mediaLimitBytes: 0,
  taskIdentifier: "test-task",
  payload: { asked: [null, "for"] },
  metadata: { step: "begun" },
  leaseSeconds: LEASE_SECONDS,
});
if (isAppError(started)) process.send?.({ refused: started.message });
else if ("output" in started) process.send?.({ earlier: started });
else await work(started.runId);
process.disconnect();

async function work(runId: string): Promise<void> {
  process.send?.({ runId });
  for await (const [message] of messages) {
    const next = order.parse(message);
    if ("finish" in next) {
      await endRun(app, runId, { status: "COMPLETED", output: next.finish });
      return void process.send?.({ output: next.finish });
    }
    if ("fail" in next) {
      await endRun(app, runId, failureOf(appError("upstream_error", next.fail)));
      return void process.send?.({ failed: next.fail });
    }
    await mergeMetadata(db, runId, next.progress);
    process.send?.({ noted: true });
  }
}
