import type { Logger } from "pino";
import type { Caller } from "../identity/credentials/caller.ts";
import { services } from "../platform/services.ts";
import { checkRun } from "./check-run.ts";
import { describeFault, notConfigured } from "./describe-fault.ts";

/**
 * Runs an action with the connection of the account that the caller acts for. Errors: forbidden,
 * not_found, conflict, upstream_error, upstream_timeout, not_configured.
 */
export async function runAction(
  caller: Caller,
  request: {
    readonly connector: string;
    readonly action: string;
    readonly input: Readonly<Record<string, unknown>>;
  },
  log: Logger,
) {
  const refused = await checkRun(caller, request.connector);
  if (refused) return refused;
  const provider = services().connectors;
  if (!provider) return notConfigured;
  const ran = await provider.runAction({ accountId: caller.accountId, ...request });
  if (ran.kind !== "ran") return describeFault(ran, log);
  return { body: { success: true, data: ran.result } } as const;
}
