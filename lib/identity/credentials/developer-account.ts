/** The account that `npm run dev` seeds. The launcher uses this file too, before the settings are whole. */
import { createHmac } from "node:crypto";

export const DEVELOPER_EMAIL = "developer@example.com";

/** Follows from the local secret, so that it is stored nowhere but with the auth server. */
export function developerPassword(apiKeySecret: string): string {
  return createHmac("sha256", apiKeySecret).update("development password").digest("base64url");
}
