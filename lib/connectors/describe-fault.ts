import type { Logger } from "pino";
import { type AppError, appError } from "../contract/app-error.ts";
import type { ConnectorFault } from "./port.ts";

export const notConfigured = appError("not_configured", "Connectors are not configured");

/** Turns a provider's fault into the error that callers see, and logs the details. */
export function describeFault({ kind, cause, retryAfter }: ConnectorFault, log: Logger): AppError {
  if (kind === "unknown") return appError("not_found", "Unknown connector");
  if (kind === "unknown_action") return appError("not_found", "Unknown action");
  if (kind === "not_connected") {
    return appError("conflict", "The account has no active connection to this connector");
  }
  log.warn({ outcome: kind, cause }, "The connector provider failed");
  return kind === "timeout"
    ? appError("upstream_timeout", "Connector provider did not answer in time")
    : appError(
        "upstream_error",
        "Connector provider unavailable",
        retryAfter ? { headers: { "retry-after": retryAfter } } : {},
      );
}
