import { config } from "../../platform/config.ts";

/** Returns the origin that serves generated files; null when this service does. */
export function mediaOrigin(): string | null {
  const { EMBEDDED_SUPABASE, SUPABASE_URL } = config();
  return EMBEDDED_SUPABASE ? null : new URL(SUPABASE_URL).origin;
}
