import { createHmac, randomInt } from "node:crypto";
import { config } from "../../platform/config.ts";

/** Returns six random digits, uniformly distributed. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, "0");
}

/** Returns the hash of a code, as the database stores it. It depends on the address. */
export function hashCode(email: string, code: string): string {
  return createHmac("sha256", config().API_KEY_SECRET)
    .update(`signup code ${code} ${email}`)
    .digest("hex");
}
