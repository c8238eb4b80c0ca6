/**
 * The durable run of a generation in a vendor's queue. The order is submitted once: a process that dies
 * while it submits fails the run. From then on any process collects the result. The SDK stores the sealed
 * request and the order's id at the vendor.
 */
import { getStepMetadata, sleep } from "workflow";
import { retryOutage } from "../engine/retry-outage.ts";
import { nameStep, nameWorkflow } from "../engine/workflow-names.ts";
import { currentApp } from "../platform/current-app.ts";
import {
  collectGeneration,
  failGeneration,
  type GenerationJob,
  type SubmittedGeneration,
  submitGeneration,
  traceGeneration,
} from "./generation-steps.ts";

/** Permanent names, stored with every run: see `workflow-names.ts`. */
export const GENERATION_WORKFLOW =
  "workflow//./lib/content/generation-workflow//generationWorkflow";
const submitStep = nameStep("step//./lib/content/generation-workflow//submitStep", submit);
const collectStep = nameStep("step//./lib/content/generation-workflow//collectStep", collect);
const failStep = nameStep("step//./lib/content/generation-workflow//failStep", fail);
nameWorkflow(GENERATION_WORKFLOW, executeGeneration);

const MAX_ATTEMPTS = 20;
const PAUSE = "5s";

async function executeGeneration(job: GenerationJob): Promise<void> {
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

async function submit(
  job: GenerationJob,
  made: readonly string[],
): Promise<SubmittedGeneration | null> {
  "use step";
  return traceGeneration(job, "submit", () => submitGeneration(currentApp(), job, made));
}
submit.maxRetries = 0;

async function collect(
  job: GenerationJob,
  submitted: SubmittedGeneration,
  made: readonly string[],
): Promise<"pending" | "ended" | readonly string[]> {
  "use step";
  return retryOutage(getStepMetadata().attempt, () =>
    traceGeneration(job, "collect", () => collectGeneration(currentApp(), job, submitted, made)),
  );
}
collect.maxRetries = MAX_ATTEMPTS;

async function fail(job: GenerationJob): Promise<void> {
  "use step";
  await retryOutage(getStepMetadata().attempt, () =>
    traceGeneration(job, "fail", () => failGeneration(currentApp(), job)),
  );
}
fail.maxRetries = MAX_ATTEMPTS;
