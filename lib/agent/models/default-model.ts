/** The model a chat gets when nobody chose one. */
import { type Config, config } from "../../platform/config.ts";
import { EMBEDDED_MODEL_ID } from "./adapters/embedded/identity.ts";

/** Stands for the first model that the configured server lists, so that a base URL is enough. */
export const AUTO_MODEL_ID = "auto";
const GATEWAY_DEFAULT = "anthropic/claude-sonnet-4.5";

/** `DEFAULT_MODEL`, else the first of `MODELS`, else the adapter's own choice. */
export function defaultModelId(settings: Config = config()): string {
  return settings.DEFAULT_MODEL ?? settings.MODELS[0] ?? ownDefault(settings);
}

function ownDefault(settings: Config): string {
  if (settings.AI_GATEWAY_API_KEY) return GATEWAY_DEFAULT;
  return settings.OPENAI_BASE_URL ? AUTO_MODEL_ID : EMBEDDED_MODEL_ID;
}
