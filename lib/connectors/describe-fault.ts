import type { Logger } from "pino";
import { type AppError, appError } from "../contract/app-error.ts";
import type { ConnectorFault } from "./port.ts";

export const notConfigured = appError("not_configured", "Connectors are not configured");

/** What a caller learns of a provider's fault; the log has the rest. Decisions, section 9. */
export function describeFault({ kind, cause, retryAfter }: ConnectorFault, log: Logger): AppError {
  if (kind === "unknown") return appError("not_found", "Unknown connector");
  log.warn({ outcome: kind, cause }, "connectors");
  return kind === "timeout"
    ? appError("upstream_timeout", "Connector provider did not answer in time")
    : appError(
        "upstream_error",
        "Connector provider unavailable",
        retryAfter ? { headers: { "retry-after": retryAfter } } : {},
      );
}
