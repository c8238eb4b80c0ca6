import { isSandboxError, type Sandbox, SandboxError } from "@platform/sandbox/port";
import type { Parts } from "../parts.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";
import type { TurnState } from "./state.ts";

/** When the sandbox was deleted during the turn, its tools fail, but the turn does not. */
export function openSandbox(
  { sandboxes }: Parts<"sandboxes">,
  turn: Pick<TurnState, "account_id" | "options" | "sandbox_state">,
  policies = turn.options.network_policies,
): Sandbox {
  const state = storedSandbox.nullable().parse(turn.sandbox_state);
  if (state) return sandboxes.open(state, turn.account_id, policies);
  const fail = async (): Promise<never> => {
    throw new SandboxError("unavailable", "The session has no sandbox");
  };
  return { run: fail, readFile: fail, writeFile: fail };
}

const WRITES_AT_ONCE = 8;

/** A file that cannot be written is missing for the agent, but its turn continues. */
export async function writeFiles(
  sandbox: Sandbox,
  files: readonly { readonly path: string; readonly text: string }[],
): Promise<void> {
  const left = [...files];
  const write = async (): Promise<void> => {
    for (let file = left.shift(); file; file = left.shift()) {
      await sandbox.writeFile(file.path, file.text).catch((error: unknown) => {
        if (!isSandboxError(error)) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
}
