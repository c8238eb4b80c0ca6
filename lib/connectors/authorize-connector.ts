/** The URL at which a person connects a service to an account. Specification: POST /api/connectors. */

import type { Logger } from "pino";
import { appError } from "../contract/app-error.ts";
import { config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { services } from "../platform/services.ts";
import { isAllowedOrigin } from "./check-callback.ts";
import { describeFault, notConfigured } from "./describe-fault.ts";

/**
 * The caller's access to the account was checked with the credential.
 * Errors: invalid_request, not_found, upstream_error, upstream_timeout, not_configured.
 */
export async function authorizeConnector(
  asked: {
    readonly accountId: string;
    readonly connector: string;
    readonly callbackUrl: string | null | undefined;
  },
  log: Logger,
) {
  const { accountId, connector, callbackUrl } = asked;
  const { CONNECTOR_CALLBACK_ORIGINS: named } = config();
  // The console's own page is where people end without one, so it needs no naming.
  const allowed = named.length === 0 ? named : [...named, serviceOrigin()];
  if (callbackUrl && !isAllowedOrigin(callbackUrl, allowed)) {
    const text = "callback_url must have one of the allowed origins";
    return appError("invalid_request", text, { fields: ["callback_url"] });
  }
  const provider = services().connectors;
  if (!provider) return notConfigured;
  const started = await provider.authorize({
    accountId,
    connector,
    callbackUrl: callbackUrl ?? `${serviceOrigin()}/connectors`,
  });
  if (started.kind !== "started") return describeFault(started, log);
  return { body: { success: true, data: { connector, redirectUrl: started.url } } } as const;
}
