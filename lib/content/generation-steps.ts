/** The steps of `generation-workflow.ts`. Each may run in another process. */

import { appError, isAppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import { turnPolicies } from "@platform/kit/network-policy";
import { continueTrace, inSpan } from "@platform/kit/telemetry/spans";
import { canRender, render } from "@platform/media/embedded/render-process";
import {
  type GeneratedFile,
  generationFailed,
  generationTimedOut,
  type MediaProvider,
  type Submission,
} from "@platform/media/port";
import { z } from "zod";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { openText } from "../platform/seal-text.ts";
import {
  endRun,
  failureOf,
  hasAuthority,
  mergeMetadata,
  renewLeases,
  selectRun,
} from "../task-runs/store.ts";
import { imageBody, videoBody } from "./contract.ts";
import {
  fetchEdit,
  fetchImageOrder,
  fetchVideoOrder,
  planImages,
  planVideo,
} from "./generation-order.ts";
import { discardTornMedia, storeResults } from "./media-store.ts";
import { withWorkFolder } from "./work-folder.ts";

/** How long a vendor may take. */
const MAX_WORK_MS = 15 * 60 * 1000;
/** The lease of a run whose workflow is on its way: it is not renewed while the workflow sleeps. */
const LEASE_SECONDS = 30 * 60;
const STEP_TIMEOUT_MS = 4 * 60 * 1000;

type Needs = Parts<"db" | "mediaProvider" | "webhookWorker" | "mediaStorage" | "models" | "queues">;

export const generationJob = z.object({
  runId: z.string(),
  accountId: z.string(),
  /** A `generationRequest`, because the URLs of a request may grant access to files. */
  sealed: z.string(),
  /** The id of the key that the generation was asked for with; null for a bearer. */
  credentialId: z.string().nullable().optional(),
  /** The trace that the steps belong to; absent where nothing is recorded. */
  traceparent: z.string().exactOptional(),
});
export type GenerationJob = z.output<typeof generationJob>;

/** The network policies of the run that has asked for it; absent for all other callers. */
const common = { effectId: z.uuid(), network: turnPolicies.optional() };
const generationRequest = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("video"), ...common, body: videoBody }),
  z.object({ kind: z.literal("image"), ...common, body: imageBody }),
]);
export type GenerationRequest = z.output<typeof generationRequest>;

export interface SubmittedGeneration {
  readonly submission: Submission;
  readonly submittedAt: number;
  /** The fields of the run's output besides the URLs. */
  readonly details: object;
  /** The number of missing images, or one video. */
  readonly count: number;
}

const notEdited = appError("not_configured", "The renderer of videos is not installed");
const authorityEnded = appError(
  "forbidden",
  "The key that asked for this has ended, or its account may no longer act for the artist",
);

/** @param made the URLs of the images that earlier orders have made */
export async function submitGeneration(
  app: Needs,
  job: GenerationJob,
  made: readonly string[],
): Promise<SubmittedGeneration | null> {
  const { runId, accountId } = job;
  if (!(await isActive(app.db, job))) return null;
  if (!(await hasAuthority(app.db, accountId, runId, job.credentialId ?? null))) {
    await endRun(app, runId, failureOf(authorityEnded));
    return null;
  }
  const request = open(job);
  const signal = AbortSignal.timeout(STEP_TIMEOUT_MS);
  await mergeMetadata(app.db, runId, { step: "fetching" });
  const submitted = await withWorkFolder(async (folder) => {
    if (request.kind === "video") {
      const plan = await planVideo(app, request);
      if (isAppError(plan)) return plan;
      const fetched = await fetchVideoOrder(app, accountId, plan, folder, signal);
      if (isAppError(fetched)) return fetched;
      const submission = await provider(app).submitVideo(fetched.order, signal);
      return isAppError(submission)
        ? submission
        : { submission, details: fetched.details, count: 1 };
    }
    const plan = await planImages(app, request);
    if (isAppError(plan)) return plan;
    const order = await fetchImageOrder(app, accountId, plan, folder, signal);
    if (isAppError(order)) return order;
    const [count, seed] = [order.count - made.length, order.seed + made.length];
    const submission = await provider(app).submitImages({ ...order, count, seed }, signal);
    return isAppError(submission) ? submission : { submission, details: plan.details, count };
  });
  if (isAppError(submitted)) {
    await endRun(app, runId, failureOf(submitted));
    return null;
  }
  return { ...submitted, submittedAt: Date.now() };
}

/**
 * Resolves with the URLs of all images so far when the model has made fewer than were ordered, and
 * with `ended` when the run has ended.
 */
export async function collectGeneration(
  app: Needs,
  job: GenerationJob,
  { submission, submittedAt, details, count }: SubmittedGeneration,
  made: readonly string[],
): Promise<"pending" | "ended" | readonly string[]> {
  const { runId, accountId } = job;
  if (!(await isActive(app.db, job))) return "ended";
  const signal = AbortSignal.timeout(STEP_TIMEOUT_MS);
  const { kind } = open(job);
  // Not earlier: from here on the submission is committed.
  await mergeMetadata(app.db, runId, { step: "generating" });
  const urls = await withWorkFolder(async (folder) => {
    const files = await provider(app).collect(submission, folder, signal);
    if (files === null || isAppError(files)) return files;
    await mergeMetadata(app.db, runId, { step: "storing" });
    const finished = kind === "video" ? await edit(app, job, files, folder, signal) : files;
    // An attempt that died may have stored some.
    await discardTornMedia(app.db, accountId, runId, made);
    const model = typeof submission.model === "string" ? submission.model : provider(app).name;
    const { credentialId = null } = job;
    const origin = { accountId, runId, kind, model, credentialId, earlier: made.length };
    return storeResults(app, origin, finished);
  });
  if (urls === null) {
    if (Date.now() - submittedAt < MAX_WORK_MS) return "pending";
    await provider(app).cancel(submission);
    await endRun(app, runId, failureOf(generationTimedOut(kind)));
    return "ended";
  }
  if (isAppError(urls)) {
    await endRun(app, runId, failureOf(urls));
    await provider(app).forget?.(submission);
    return "ended";
  }
  const all = [...made, ...urls];
  if (urls.length < count) return all;
  const result = kind === "video" ? { videoSourceUrl: all[0] } : { imageUrl: all[0], images: all };
  const { notice } = provider(app);
  const standIn = notice === undefined ? {} : { placeholder: true, notice };
  await endRun(app, runId, { status: "COMPLETED", output: { ...result, ...details, ...standIn } });
  await provider(app).forget?.(submission);
  return "ended";
}

/** Ends the run as failed, unless it has ended. */
export async function failGeneration(app: Parts<"db" | "webhookWorker">, job: GenerationJob) {
  const { kind } = open(job);
  await endRun(app, job.runId, failureOf(generationFailed(kind)));
}

/** Keeps the run alive. Returns false when it has ended, or its account was deleted. */
async function isActive(db: Database, { runId, accountId }: GenerationJob): Promise<boolean> {
  await renewLeases(db, [runId], LEASE_SECONDS);
  return (await selectRun(db, accountId, runId))?.status === "EXECUTING";
}

const open = ({ runId, sealed }: GenerationJob): GenerationRequest =>
  generationRequest.parse(JSON.parse(openText(sealed, runId)));

function provider({ mediaProvider }: Needs): MediaProvider {
  if (!mediaProvider) throw new Error("The settings have no provider of images and videos");
  return mediaProvider;
}

/** Applies the template's edit. The video has been paid for: without its edit it is better than an error. */
async function edit(
  app: Needs,
  job: GenerationJob,
  files: readonly GeneratedFile[],
  folder: string,
  signal: AbortSignal,
): Promise<readonly GeneratedFile[]> {
  const { accountId } = job;
  const request = open(job);
  const [video] = files;
  if (request.kind !== "video" || !video) return files;
  const plan = await planVideo(app, request);
  if (isAppError(plan) || plan.steps.length === 0) return files;
  const steps = await fetchEdit(app, accountId, plan, folder, signal);
  if (isAppError(steps)) return files;
  const edit = { op: "edit", video: { ...video, url: "" }, steps } as const;
  const settings = { queue: app.queues.renderings };
  const edited = canRender("videos")
    ? await render(accountId, edit, folder, signal, settings)
    : notEdited;
  if (!isAppError(edited)) return edited;
  log().warn({ cause: edited.message }, "A generated video was not edited");
  return files;
}

/** Runs a durable step of a generation in the trace of the request that ordered it. */
export const traceGeneration = <T>(
  { runId, traceparent }: GenerationJob,
  step: "submit" | "collect" | "fail",
  work: () => Promise<T>,
): Promise<T> =>
  continueTrace(traceparent, () =>
    inSpan(`generation.${step}`, { isRoot: true, attributes: { "app.run.id": runId } }, work),
  );
