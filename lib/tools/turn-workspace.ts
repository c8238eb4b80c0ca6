/** The workspace of a turn: its files come to the sandbox before the first tool, and are stored at the end. */

import type { StepResult, ToolCall } from "@platform/agent/step-result";
import { isAppError } from "@platform/endpoint/contract/app-error";
import type { UntrustedSource } from "@platform/endpoint/contract/approvals";
import { log } from "@platform/kit/log";
import type { UIMessageChunk } from "ai";
import type { Parts } from "../parts.ts";
import type { TurnState } from "../running-turn/state.ts";
import type { WorkspaceUse } from "../running-turn/step.ts";
import { openSandbox } from "../running-turn/turn-sandbox.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";
import { beginUse, type Checkout } from "../workspace/checkout-store.ts";
import { syncSandbox } from "../workspace/sync-sandbox.ts";

type Needs = Parts<"db" | "contentStorage" | "sandboxes">;

/** Tools that can change files, and tools that only read them. */
const CHANGING: readonly string[] = ["bash", "write", "edit", "task"];
const READING: readonly string[] = ["read", "grep", "glob", "skill"];

/** Returns how tools use the files of the sandbox. */
function accessOf(calls: readonly ToolCall[]): WorkspaceUse {
  if (calls.some(({ name }) => CHANGING.includes(name))) return "write";
  return calls.some(({ name }) => READING.includes(name)) ? "read" : "none";
}

function checkoutOf({ sandboxes }: Needs, turn: TurnState): Checkout | null {
  const state = storedSandbox.nullable().parse(turn.sandbox_state);
  if (turn.options.workspace === "off" || state?.provider !== sandboxes.name) return null;
  return {
    accountId: turn.account_id,
    sessionId: turn.session_id,
    artistId: turn.workspace.artist_id,
    sandbox: `${state.provider} ${state.name} ${state.createdAt}`,
  };
}

function sandboxParts(app: Needs, turn: TurnState) {
  const state = storedSandbox.parse(turn.sandbox_state);
  const files = app.sandboxes.openFiles(state, turn.account_id);
  return { files, sandbox: openSandbox(app, turn) };
}

const mayWrite = ({ options }: TurnState): boolean => (options.workspace ?? "write") === "write";

/**
 * Gives the sandbox the files of the workspace before the first tools of the turn that need them, and notes
 * when a tool can change files. A failure is logged, and the tools run without the newer files.
 * @param used how the turn has used the workspace before
 * @param addSources gets the files that were written from the words of strangers
 */
export async function prepareWorkspace(
  app: Needs,
  runId: string,
  turn: TurnState,
  calls: readonly ToolCall[],
  used: WorkspaceUse,
  addSources: (sources: readonly UntrustedSource[]) => Promise<void>,
): Promise<WorkspaceUse> {
  const use = accessOf(calls);
  const checkout =
    use === "none" || use === used || used === "write" ? null : checkoutOf(app, turn);
  if (!checkout) return used;
  const writes = mayWrite(turn);
  try {
    const begun = await beginUse(app.db, checkout, writes && use === "write");
    if (isAppError(begun)) return used;
    if (begun.untrusted.length > 0) await addSources(begun.untrusted);
    if (!begun.is_current && used === "none") {
      // A turn that may only read also stores the changes of an earlier one that died.
      const stores = writes || begun.is_dirty;
      const sync = { ...checkout, runId, writes: stores, isDirty: writes && use === "write" };
      await syncSandbox(app, sandboxParts(app, turn), sync);
    }
    return use;
  } catch (error) {
    log().warn({ err: error, runId }, "the workspace could not be loaded");
    return used;
  }
}

/**
 * Stores the files that the tools of a turn may have changed. Never rejects: the next turn of the
 * session stores the files that cannot be stored now.
 * @returns a part of the answer that names the stored files, conflicts and files that were left out, if there
 * are any
 */
export async function storeWorkspace(
  app: Needs,
  runId: string,
  turn: TurnState,
  steps: readonly StepResult[],
): Promise<UIMessageChunk[]> {
  if (!mayWrite(turn) || accessOf(steps.flatMap(({ calls }) => calls)) !== "write") return [];
  const checkout = checkoutOf(app, turn);
  if (!checkout) return [];
  const chunk = (data: object): UIMessageChunk[] => [{ type: "data-workspace", id: runId, data }];
  try {
    const sync = { ...checkout, runId, writes: true, isDirty: false };
    const report = await syncSandbox(app, sandboxParts(app, turn), sync);
    const isEmpty = Object.values(report).every((files) => files.length === 0);
    return isEmpty ? [] : chunk({ is_stored: true, ...report });
  } catch (error) {
    log().error({ err: error, runId }, "the workspace could not be stored");
    return chunk({ is_stored: false, stored: [], conflicts: [], skipped: [] });
  }
}
