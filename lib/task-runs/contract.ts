/** The endpoint of background task runs. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { describeIssue } from "@platform/endpoint/contract/describe-issue";
import { queryInteger, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";
import { taskRun } from "./task-run.ts";

/** Parsed only to list runs: a single look-up ignores even an invalid `limit`. */
export const listQuery = z.object({ limit: queryInteger({ min: 1, max: 100, default: 20 }) });

const query = z
  .object({
    runId: z.string().optional().meta({ description: "Look up this one run" }),
    limit: z
      .string()
      .optional()
      .meta({
        description: "How many runs to list; ignored when `runId` is given",
        override: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          default: 20,
        },
      }),
    account_id: uuid.optional().meta({ description: "The runs of this account" }),
    artist_id: uuid
      .optional()
      .meta({ description: "Only runs for this artist; ignored when `runId` is given" }),
  })
  .superRefine(({ runId, limit }, context) => {
    if (runId !== undefined) return;
    const checked = listQuery.safeParse({ limit }, { error: describeIssue });
    for (const { path, message } of checked.error?.issues ?? []) {
      context.addIssue({ code: "custom", path, message });
    }
  });

export const listTaskRunsContract = contract({
  method: "GET",
  path: "/api/tasks/runs",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "List the task runs of an account, newest first, or look up one",
  description:
    "The runs of a list have neither `output` nor `error`. With `runId`, the list holds that one run, " +
    "with both.",
  tag: "Tasks",
  family: "error",
  auth: "required",
  accountAccess: { in: "query", field: "account_id" },
  query,
  responses: successResponse("The runs", { runs: z.array(taskRun) }),
  errors: ["not_found", "upstream_error", "upstream_timeout"],
});
