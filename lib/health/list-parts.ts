import { type Config, config } from "../platform/config.ts";
import { services } from "../platform/services.ts";
import type { Part } from "./contract.ts";

/** Returns the adapter that each part of this process uses according to the settings. */
export function listParts(): Part[] {
  const settings = config();
  return [
    { name: "database", adapter: settings.EMBEDDED_SUPABASE ? "embedded" : "supabase" },
    { name: "identity", adapter: identityAdapter(settings) },
    { name: "durableRuns", adapter: services().engine.name },
    { name: "sandbox", adapter: services().sandboxes.name },
    { name: "model", adapter: services().models.name },
    { name: "mail", adapter: services().mail.name },
    { name: "connectors", adapter: services().connectors?.name ?? "none" },
    { name: "catalog", adapter: services().catalog.name },
    { name: "research", adapter: services().research.name },
    { name: "taskRunner", adapter: services().tasks.name },
    { name: "content", adapter: services().content?.name ?? "none" },
    { name: "mediaStorage", adapter: services().media.name },
  ];
}

function identityAdapter(settings: Config): string {
  if (settings.OIDC_ISSUER) return "oidc";
  return settings.EMBEDDED_SUPABASE ? "embedded" : "supabase";
}
