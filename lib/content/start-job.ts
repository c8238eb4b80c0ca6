/** Starts the durable run of a generation: at once, or when the task runner asks for it. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { isAppError } from "../contract/app-error.ts";
import { log } from "../platform/log.ts";
import { services } from "../platform/services.ts";
import { queueJob, recordRemoteRun, takeJob } from "../tasks/store.ts";
import type { Generation } from "./generation.ts";
import { failGeneration, type GenerationJob } from "./generation-steps.ts";
import { GENERATION_WORKFLOW } from "./generation-workflow.ts";

/** A job that the task runner does not ask for in this time is started here: its caller waits for it. */
const PATIENCE_MS = 10_000;

const generationJob: z.ZodType<GenerationJob> = z.object({
  runId: z.string(),
  accountId: z.string(),
  sealed: z.string(),
  credentialId: z.string().nullable().optional(),
  traceparent: z.string().exactOptional(),
});

/** @throws Error when the run cannot be started, after the task run has been ended as failed */
export async function startJob(stored: unknown): Promise<void> {
  const job = generationJob.parse(stored);
  try {
    await services().engine.startRun(GENERATION_WORKFLOW, job);
  } catch (error) {
    await failGeneration(job);
    throw error;
  }
}

/**
 * Has the task runner start the job, or starts it where there is none, and where it does not take the
 * task. @throws Error as `startJob`
 */
export async function dispatchJob(
  job: GenerationJob,
  { kind, keepAlive }: Pick<Generation, "kind" | "keepAlive">,
): Promise<void> {
  const { tasks } = services();
  if (!tasks.start) return startJob(job);
  const { accountId, runId } = job;
  await queueJob(accountId, runId, job);
  const task = { accountId, taskIdentifier: `generate-${kind}`, taskRunId: runId } as const;
  const remoteId = await tasks.start(task, log());
  // It may have taken a task that it did not confirm in time.
  if (isAppError(remoteId)) return startUntaken(job);
  await recordRemoteRun(accountId, runId, remoteId);
  const late = delay(PATIENCE_MS, undefined, { ref: false }).then(() => startUntaken(job));
  keepAlive(
    late.catch((error: unknown) =>
      log().error({ err: error, runId }, "a generation could not be started"),
    ),
  );
}

async function startUntaken({ accountId, runId }: GenerationJob): Promise<void> {
  const job = await takeJob(accountId, runId);
  if (job !== null) await startJob(job);
}
