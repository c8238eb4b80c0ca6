import { createHmac } from "node:crypto";
import { config } from "../config.ts";
import { formatKey } from "./key-format.ts";

/**
 * The short-lived key that a turn's sandbox calls back with. It follows from the turn's id and the
 * project's secret, so that a run goes on after a crash without the key being stored anywhere.
 */
export function deriveRunKey(turnId: string): string {
  const bytes = createHmac("sha256", config().API_KEY_SECRET).update(`run key ${turnId}`).digest();
  return formatKey(bytes);
}
