/**
 * Which provider of connections this process uses. Beside a hosted database nothing stands in for
 * the real one: a connection that connects nothing is for trying only.
 */
import { config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { createComposioProvider } from "./adapters/composio.ts";
import { createEmbeddedProvider } from "./adapters/embedded.ts";
import type { ConnectorProvider } from "./port.ts";

/** Milliseconds that the provider has for one request of ours. */
const DEADLINE = 10_000;

/** Told by `GET /api/health`. */
export function connectorAdapter(): ConnectorProvider["name"] | "none" {
  if (config().COMPOSIO_API_KEY) return "composio";
  return config().EMBEDDED_SUPABASE ? "embedded" : "none";
}

/** Null when none is configured. */
export function connectorProvider(): ConnectorProvider | null {
  const { COMPOSIO_API_KEY: apiKey, COMPOSIO_BASE_URL: baseUrl, EMBEDDED_SUPABASE } = config();
  if (apiKey) return createComposioProvider({ apiKey, baseUrl, deadline: DEADLINE });
  return EMBEDDED_SUPABASE ? createEmbeddedProvider(serviceOrigin()) : null;
}
