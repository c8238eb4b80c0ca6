import { services } from "../platform/services.ts";
import { type Sandbox, SandboxError } from "../sandbox/port.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";
import type { ActiveTurn } from "./store/turns.ts";

/** When the sandbox was deleted during the turn, its tools fail, but the turn does not. */
export function openSandbox({ sandbox_state, account_id }: ActiveTurn): Sandbox {
  const state = storedSandbox.nullable().parse(sandbox_state);
  if (state) return services().sandboxes.open(state, account_id);
  const fail = async (): Promise<never> => {
    throw new SandboxError("unavailable", "The session has no sandbox");
  };
  return { run: fail, readFile: fail, writeFile: fail };
}
