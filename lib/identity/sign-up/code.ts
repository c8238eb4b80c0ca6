import { createHmac, randomInt } from "node:crypto";
import { config } from "../../platform/config.ts";

/** Six digits, each code as likely as any other. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, "0");
}

/** All that is stored of a code. With the address in it, equal codes of two people differ. */
export function hashCode(email: string, code: string): string {
  return createHmac("sha256", config().API_KEY_SECRET)
    .update(`signup code ${code} ${email}`)
    .digest("hex");
}
