/** The common part of both engines, on the Workflow SDK's public interface. */
import { WorkflowRunNotFoundError } from "@workflow/errors";
import { getRun, start } from "workflow/api";
import type { Engine } from "../port.ts";

export const startWorkflow: Engine["startWorkflow"] = async (workflow, input) =>
  (await start({ workflowId: workflow }, [input])).runId;

export const runState: Engine["runState"] = async (runId) => {
  try {
    const status = await getRun(runId).status;
    return status === "running" || status === "pending" ? "running" : "ended";
  } catch (error) {
    if (WorkflowRunNotFoundError.is(error)) return "unknown";
    throw error;
  }
};

/** Calls a route of the SDK, because its module registers the handler when it is first loaded. */
export async function loadRoute(selfOrigin: string, kind: "flow" | "step"): Promise<void> {
  const url = `${selfOrigin}/.well-known/workflow/v1/${kind}`;
  await (await fetch(url, { method: "POST" })).body?.cancel();
}
