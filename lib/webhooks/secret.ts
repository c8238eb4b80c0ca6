/** Signing secrets of webhooks, which are stored sealed and shown once. */
import { randomBytes } from "node:crypto";
import { openText, sealText } from "../platform/seal-text.ts";

/** The size of the digest that signs (SHA-256). */
const SECRET_BYTES = 32;

const contextOf = (webhookId: string) => `secret of webhook ${webhookId}`;

/** Returns a new secret as its owner gets it, `whsec_` and base64, and as it is stored. */
export function newSecret(webhookId: string): { secret: string; sealedSecret: string } {
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
  return { secret, sealedSecret: sealText(secret, contextOf(webhookId)) };
}

/** @throws Error when the service's `API_KEY_SECRET` is not the one that sealed the secret */
export const openSecret = (webhookId: string, sealed: string): string =>
  openText(sealed, contextOf(webhookId));
