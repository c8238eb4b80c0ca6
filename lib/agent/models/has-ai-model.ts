import { type Config, config } from "../../platform/config.ts";

/** Returns whether an AI answers, not the embedded rules. */
export const hasAiModel = (settings: Config = config()): boolean =>
  settings.AI_GATEWAY_API_KEY !== undefined || settings.OPENAI_BASE_URL !== undefined;
