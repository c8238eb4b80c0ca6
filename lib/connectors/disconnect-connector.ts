import type { Logger } from "pino";
import { appError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { describeFault, notConfigured } from "./describe-fault.ts";

/**
 * Removes the connections of the account to a connector. Errors: not_found without one,
 * upstream_error, upstream_timeout, not_configured.
 */
export async function disconnectConnector(accountId: string, connector: string, log: Logger) {
  const provider = services().connectors;
  if (!provider) return notConfigured;
  const ended = await provider.disconnect({ accountId, connector });
  if (ended.kind !== "disconnected") return describeFault(ended, log);
  if (ended.count === 0) return appError("not_found", "The connector is not connected");
  return { body: { success: true, data: { connector, removed: ended.count } } } as const;
}
