/** The queue routes of the Workflow SDK accept nothing from outside. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { projectRoot } from "../../scripts/project-root.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
beforeAll(async () => {
  workspace = await startWorkspace();
});
afterAll(() => workspace.stop());

const manifest = z.object({
  workflows: z.record(z.string(), z.record(z.string(), z.looseObject({ workflowId: z.string() }))),
  steps: z.record(z.string(), z.record(z.string(), z.looseObject({ stepId: z.string() }))),
});

const PREFIX = "/.well-known/workflow/v1";

it("no plain HTTP request starts, resumes or reads a run, whatever it claims to be", async () => {
  const built = manifest.parse(
    JSON.parse(
      readFileSync(join(projectRoot, "app/.well-known/workflow/v1/manifest.json"), "utf8"),
    ),
  );
  const workflow = Object.values(built.workflows).flatMap((file) => Object.values(file))[0];
  const step = Object.values(built.steps).flatMap((file) => Object.values(file))[0];
  if (!workflow || !step) throw new Error("The build has no workflow");
  const runId = "wrun_01K00000000000000000000000";
  const input = [{ turnId: crypto.randomUUID(), bearer: null }];
  const bodies = [
    {
      runId,
      runInput: {
        input,
        deploymentId: "postgres",
        workflowName: workflow.workflowId,
        specVersion: 2,
      },
    },
    {
      workflowName: workflow.workflowId,
      workflowRunId: runId,
      workflowStartedAt: Date.now(),
      stepId: "step_01K00000000000000000000000",
      stepName: step.stepId,
    },
    { __healthCheck: true, correlationId: "x" },
  ];
  const disguises: Record<string, string>[] = [
    {},
    { "x-forwarded-for": "127.0.0.1", host: "127.0.0.1", "x-real-ip": "127.0.0.1" },
    { "x-vercel-id": "x", "x-vercel-oidc-token": "x" },
  ];
  const paths = ["flow", "step", "webhook/anything"];
  for (const path of paths) {
    for (const body of bodies) {
      for (const disguise of disguises) {
        const queue = path.startsWith("step")
          ? `__wkf_step_${step.stepId}`
          : `__wkf_workflow_${workflow.workflowId}`;
        const answer = await fetch(`${workspace.server.url}${PREFIX}/${path}`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "x-vqs-queue-name": queue,
            "x-vqs-message-id": "msg_01K00000000000000000000000",
            "x-vqs-message-attempt": "1",
            ...disguise,
          },
          body: JSON.stringify(body),
        });
        expect(answer.status, `${path} ${JSON.stringify(body)}`).toBe(404);
        await answer.arrayBuffer();
      }
    }
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
      const answer = await fetch(`${workspace.server.url}${PREFIX}/${path}`, { method });
      expect([204, 404, 405], `${method} ${path}: ${answer.status}`).toContain(answer.status);
      expect(await answer.text()).not.toContain("wrun_");
    }
  }
  const manifestAnswer = await fetch(`${workspace.server.url}${PREFIX}/manifest.json`);
  await manifestAnswer.arrayBuffer();
  expect(manifestAnswer.status).toBe(404);

  expect(await workspace.sql`select run_id from engine.runs`).toEqual([]);
  expect(await workspace.sql`select id from turns`).toEqual([]);
});
