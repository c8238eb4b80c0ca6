import type { Logger } from "pino";
import { appError } from "../contract/app-error.ts";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import { config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { services } from "../platform/services.ts";
import { isAllowedOrigin } from "./check-callback.ts";
import { describeFault, notConfigured } from "./describe-fault.ts";

/**
 * Starts a connection and returns the URL at which a person completes it. The pipeline has checked the
 * caller's access to the account.
 *
 * Errors: invalid_request, not_found, upstream_error, upstream_timeout, not_configured.
 */
export async function authorizeConnector(
  request: {
    readonly caller: Caller;
    readonly connector: string;
    readonly callbackUrl: string | null | undefined;
  },
  log: Logger,
) {
  const { caller, connector, callbackUrl } = request;
  const { CONNECTOR_CALLBACK_ORIGINS: origins } = config();
  // The console is the default callback, so it need not be listed.
  const allowed = origins.length === 0 ? origins : [...origins, serviceOrigin()];
  if (callbackUrl && !isAllowedOrigin(callbackUrl, allowed)) {
    const message = "callback_url must have one of the allowed origins";
    return appError("invalid_request", message, { fields: ["callback_url"] });
  }
  const provider = services().connectors;
  if (!provider) return notConfigured;
  const started = await provider.authorize({
    accountId: caller.accountId,
    starter: { accountId: caller.ownerId, keyId: keyIdOf(caller) },
    connector,
    callbackUrl: callbackUrl ?? `${serviceOrigin()}/connectors`,
  });
  if (started.kind !== "started") return describeFault(started, log);
  return { body: { success: true, data: { connector, redirectUrl: started.url } } } as const;
}
