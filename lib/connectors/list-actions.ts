import type { Logger } from "pino";
import type { Caller } from "../identity/credentials/caller.ts";
import { services } from "../platform/services.ts";
import { checkRun } from "./check-run.ts";
import { describeFault, notConfigured } from "./describe-fault.ts";

/**
 * Returns a page of a connector's actions. Errors: forbidden, not_found, upstream_error,
 * upstream_timeout, not_configured.
 */
export async function listActions(
  caller: Caller,
  page: {
    readonly connector: string;
    readonly limit: number;
    readonly cursor: string | undefined;
  },
  log: Logger,
) {
  const refused = await checkRun(caller, page.connector);
  if (refused) return refused;
  const provider = services().connectors;
  if (!provider) return notConfigured;
  const listed = await provider.listActions(page);
  if (listed.kind !== "actions") return describeFault(listed, log);
  const { actions, nextCursor } = listed;
  return { body: { success: true, data: { actions, nextCursor } } } as const;
}
