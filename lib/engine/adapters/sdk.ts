/** The common part of both engines, on the Workflow SDK's public interface. */
import { HookNotFoundError, WorkflowRunNotFoundError } from "@workflow/errors";
import type { World } from "@workflow/world";
import { getRun, resumeHook, start } from "workflow/api";
import type { Engine } from "../port.ts";
import { wakeToken } from "../workflow-names.ts";

/** @param world the World to start the run in. Default: the one of the process. */
export const startWorkflow = async (
  workflow: string,
  input: unknown,
  world?: World,
): Promise<string> => (await start({ workflowId: workflow }, [input], { world })).runId;

export const runState: Engine["runState"] = async (runId) => {
  try {
    const status = await getRun(runId).status;
    return status === "running" || status === "pending" ? "running" : "ended";
  } catch (error) {
    if (WorkflowRunNotFoundError.is(error)) return "unknown";
    throw error;
  }
};

export const wake: Engine["wake"] = async (turnId) => {
  try {
    await resumeHook(wakeToken(turnId), null);
  } catch (error) {
    if (!HookNotFoundError.is(error)) throw error;
  }
};

/** Calls a route of the SDK, because its module registers the handler when it is first loaded. */
export async function loadRoute(selfOrigin: string, kind: "flow" | "step"): Promise<void> {
  const url = `${selfOrigin}/.well-known/workflow/v1/${kind}`;
  await (await fetch(url, { method: "POST" })).body?.cancel();
}
