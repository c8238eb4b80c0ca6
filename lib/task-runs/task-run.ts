/** The task run as callers see it: the raw object of the task runner. */

import { dateTime } from "@platform/endpoint/contract/fields";
import { z } from "zod";

const fault = z.object({
  message: z.string().optional(),
  name: z.string().optional(),
  stackTrace: z.string().optional(),
});

const attempt = z
  .object({
    id: z.string(),
    status: z.string(),
    createdAt: dateTime.optional(),
    updatedAt: dateTime.optional(),
    startedAt: dateTime.optional(),
    completedAt: dateTime.optional(),
    error: fault.optional(),
  })
  .meta({ id: "TaskRunAttempt" });

/** The output of a run that generates content; other tasks have other outputs. */
const contentOutput = z
  .looseObject({
    videoSourceUrl: z.string().optional(),
    imageUrl: z.string().optional(),
    captionText: z.string().optional(),
    template: z.string().optional(),
    lipsync: z.boolean().optional(),
    audio: z
      .looseObject({
        songTitle: z.string().optional(),
        songFilename: z.string().optional(),
        startSeconds: z.number().optional(),
        durationSeconds: z.number().optional(),
        clipLyrics: z.string().optional(),
        clipMood: z.string().optional(),
      })
      .optional(),
  })
  .meta({ id: "ContentRunOutput" });

/** Fields without a value are absent. */
export const taskRun = z
  .object({
    id: z.string(),
    status: z.string().meta({ examples: ["PENDING_VERSION", "EXECUTING", "COMPLETED"] }),
    taskIdentifier: z.string(),
    createdAt: dateTime,
    updatedAt: dateTime,
    idempotencyKey: z.string().optional(),
    version: z.string().optional(),
    isTest: z.boolean().optional(),
    startedAt: dateTime.optional(),
    finishedAt: dateTime.optional(),
    delayedUntil: dateTime.optional(),
    expiredAt: dateTime.optional(),
    ttl: z.union([z.string(), z.number()]).optional(),
    tags: z.array(z.string()).meta({
      description: "`account:<account_id>`, and `artist:<artist_id>` of a run for an artist",
    }),
    metadata: z.looseObject({}).optional(),
    costInCents: z.number().optional(),
    baseCostInCents: z.number().optional(),
    durationMs: z.number().optional(),
    env: z.object({ id: z.string(), name: z.string(), user: z.string().optional() }).optional(),
    depth: z.number().optional(),
    batchId: z.string().optional(),
    triggerFunction: z.string().optional(),
    payload: z.unknown().optional(),
    output: z
      .union([contentOutput, z.unknown()])
      .optional()
      .meta({ description: "On a single-run look-up only" }),
    error: fault.optional().meta({ description: "On a single-run look-up only" }),
    attempts: z.array(attempt).optional(),
    schedule: z.looseObject({}).optional(),
    relatedRuns: z.looseObject({}).optional(),
  })
  .meta({ id: "TaskRun" });
export type TaskRun = z.output<typeof taskRun>;
