import { catalogProvider } from "../catalog/provider.ts";
import { connectorAdapter } from "../connectors/provider.ts";
import { contentProvider } from "../content/current-provider.ts";
import { mediaStorage } from "../content/storage/current.ts";
import { engine } from "../engine/current.ts";
import { mailAdapter } from "../mail/provider.ts";
import { type Config, config } from "../platform/config.ts";
import { researchProvider } from "../research/provider.ts";
import { sandboxAdapter } from "../sandbox/provider.ts";
import { taskRunner } from "../tasks/provider.ts";

export interface Part {
  readonly name:
    | "database"
    | "identity"
    | "durableRuns"
    | "sandbox"
    | "model"
    | "mail"
    | "connectors"
    | "catalog"
    | "research"
    | "taskRunner"
    | "content"
    | "mediaStorage";
  readonly adapter: string;
}

/** Which adapter each part of this process uses, by its settings. */
export function listParts(): Part[] {
  const settings = config();
  return [
    { name: "database", adapter: settings.EMBEDDED_SUPABASE ? "embedded" : "supabase" },
    { name: "identity", adapter: identityAdapter(settings) },
    { name: "durableRuns", adapter: engine().name },
    { name: "sandbox", adapter: sandboxAdapter() },
    { name: "model", adapter: modelAdapter(settings) },
    { name: "mail", adapter: mailAdapter() },
    { name: "connectors", adapter: connectorAdapter() },
    { name: "catalog", adapter: catalogProvider().name },
    { name: "research", adapter: researchProvider().name },
    { name: "taskRunner", adapter: taskRunner().name },
    { name: "content", adapter: contentProvider().name },
    { name: "mediaStorage", adapter: mediaStorage().name },
  ];
}

function identityAdapter(settings: Config): string {
  if (settings.OIDC_ISSUER) return "oidc";
  return settings.EMBEDDED_SUPABASE ? "embedded" : "supabase";
}

function modelAdapter(settings: Config): string {
  if (settings.AI_GATEWAY_API_KEY) return "gateway";
  return settings.OPENAI_BASE_URL ? "openai-compatible" : "embedded";
}
