/**
 * The durable run of a generation that a vendor makes in a queue of its own. The order is submitted
 * once: a process that dies while it submits fails the run. From then on any process collects what
 * was paid for. The SDK stores the sealed request, and what identifies the order at the vendor.
 */
import { getStepMetadata, sleep } from "workflow";
import { retryOutage } from "../engine/retry-outage.ts";
import {
  collectGeneration,
  failGeneration,
  type GenerationJob,
  type SubmittedGeneration,
  submitGeneration,
} from "./generation-steps.ts";
import { traceGeneration } from "./trace-generation.ts";

const MAX_ATTEMPTS = 20;
const PAUSE = "5s";

export async function generationWorkflow(job: GenerationJob): Promise<void> {
  "use workflow";
  try {
    let made: readonly string[] = [];
    for (;;) {
      const submitted = await submitStep(job, made);
      if (submitted === null) return;
      let found = await collectStep(job, submitted, made);
      while (found === "pending") {
        await sleep(PAUSE);
        found = await collectStep(job, submitted, made);
      }
      if (found === "ended") return;
      made = found;
    }
  } catch {
    await failStep(job);
  }
}

async function submitStep(
  job: GenerationJob,
  made: readonly string[],
): Promise<SubmittedGeneration | null> {
  "use step";
  return traceGeneration(job, "submit", () => submitGeneration(job, made));
}
submitStep.maxRetries = 0;

async function collectStep(
  job: GenerationJob,
  submitted: SubmittedGeneration,
  made: readonly string[],
): Promise<"pending" | "ended" | readonly string[]> {
  "use step";
  const collect = () =>
    traceGeneration(job, "collect", () => collectGeneration(job, submitted, made));
  return retryOutage(getStepMetadata().attempt, collect);
}
collectStep.maxRetries = MAX_ATTEMPTS;

async function failStep(job: GenerationJob): Promise<void> {
  "use step";
  const fail = () => traceGeneration(job, "fail", () => failGeneration(job));
  await retryOutage(getStepMetadata().attempt, fail);
}
failStep.maxRetries = MAX_ATTEMPTS;
