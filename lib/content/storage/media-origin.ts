import { config } from "../../platform/config.ts";

/** The origin that serves generated files when this service does not do it itself, else null. */
export function mediaOrigin(): string | null {
  const { EMBEDDED_SUPABASE, SUPABASE_URL } = config();
  return EMBEDDED_SUPABASE ? null : new URL(SUPABASE_URL).origin;
}
