/** The tokens of the links in mails. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { acceptedSecrets, config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";

const ID_BYTES = 16;
const CODE_BYTES = 16;

const sign = (
  purpose: string,
  content: Uint8Array | string,
  secret = config().API_KEY_SECRET,
): Buffer => createHmac("sha256", secret).update(`${purpose} `).update(content).digest();

/** Returns a new token that confirms an address once, and its hash, which is stored. */
export function newConfirmation(): { readonly token: string; readonly tokenHash: string } {
  const token = randomBytes(32).toString("base64url");
  return { token, tokenHash: hashConfirmation(token, config().API_KEY_SECRET) };
}

const hashConfirmation = (token: string, secret: string): string =>
  sign("delivery confirmation", token, secret).toString("hex");

/** Finds the confirmation of a token by its hash, which may have been made with the previous secret. */
export async function findConfirmation<T>(
  token: string,
  find: (tokenHash: string) => Promise<T | null>,
): Promise<T | null> {
  let found: T | null = null;
  for (const secret of acceptedSecrets()) found ??= await find(hashConfirmation(token, secret));
  return found;
}

export const confirmationUrl = (token: string): string =>
  `${serviceOrigin()}/delivery/confirm?token=${token}`;

/** Returns the link that ends the mail of an account to an address. It does not expire. */
export function unsubscribeUrl(accountId: string, address: string): string {
  const id = Buffer.from(accountId.replaceAll("-", ""), "hex");
  const content = Buffer.concat([id, Buffer.from(address)]);
  const code = sign("delivery unsubscribe", content).subarray(0, CODE_BYTES);
  const token = Buffer.concat([code, content]).toString("base64url");
  return `${serviceOrigin()}/delivery/unsubscribe?token=${token}`;
}

/** Returns the account and the address, or null for a token that this service has not made. */
export function readUnsubscribeToken(
  token: string,
): { readonly accountId: string; readonly address: string } | null {
  const bytes = Buffer.from(token, "base64url");
  const content = bytes.subarray(CODE_BYTES);
  if (content.length <= ID_BYTES) return null;
  const code = bytes.subarray(0, CODE_BYTES);
  const isOwn = acceptedSecrets().some((secret) =>
    timingSafeEqual(code, sign("delivery unsubscribe", content, secret).subarray(0, CODE_BYTES)),
  );
  if (!isOwn) return null;
  const hex = content.toString("hex", 0, ID_BYTES);
  const accountId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return { accountId: z.guid().parse(accountId), address: content.toString("utf8", ID_BYTES) };
}
