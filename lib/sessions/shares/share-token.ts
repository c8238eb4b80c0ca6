/**
 * The token of a share's link: the share's id, and a code that only this service can make for it. It is
 * stored nowhere, and a guess is refused without a look-up.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const ID_BYTES = 16;
const CODE_BYTES = 16;
const TOKEN = /^[\w-]{43}$/;

/** @param secret API_KEY_SECRET */
export function formatToken(shareId: string, secret: string): string {
  const id = Buffer.from(shareId.replaceAll("-", ""), "hex");
  return Buffer.concat([id, codeOf(id, secret)]).toString("base64url");
}

/** Returns the id of the share, or null for a token that was made with none of these secrets. */
export function readToken(token: string, secrets: readonly string[]): string | null {
  if (!TOKEN.test(token)) return null;
  const bytes = Buffer.from(token, "base64url");
  const id = bytes.subarray(0, ID_BYTES);
  const code = bytes.subarray(ID_BYTES);
  if (!secrets.some((secret) => timingSafeEqual(code, codeOf(id, secret)))) return null;
  return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function codeOf(id: Uint8Array, secret: string): Buffer {
  const hmac = createHmac("sha256", secret).update("chat share ").update(id);
  return hmac.digest().subarray(0, CODE_BYTES);
}
