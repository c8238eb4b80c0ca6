import type { Logger } from "pino";
import { services } from "../platform/services.ts";
import { describeFault, notConfigured } from "./describe-fault.ts";

/**
 * Returns the connections of the account, newest first. Errors: upstream_error, upstream_timeout,
 * not_configured.
 */
export async function listConnections(accountId: string, log: Logger) {
  const provider = services().connectors;
  if (!provider) return notConfigured;
  const listed = await provider.list(accountId);
  if (listed.kind !== "listed") return describeFault(listed, log);
  return { body: { success: true, data: { connections: listed.connections } } } as const;
}
