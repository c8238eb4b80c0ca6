import { type Config, config } from "../platform/config.ts";

type Settings = Pick<Config, "AI_GATEWAY_API_KEY" | "OPENAI_BASE_URL">;

/** Returns whether an AI answers, not the embedded rules. */
export const hasAiModel = (settings: Settings = config()): boolean =>
  Boolean(settings.AI_GATEWAY_API_KEY || settings.OPENAI_BASE_URL);
