/** Encrypts texts that are stored (AES-256-GCM) under a key derived from API_KEY_SECRET. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { processWide } from "@platform/kit/process-wide";
import { config } from "./config.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param context the owner of the text; it can be opened only with the same context */
export function sealText(text: string, context: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealingKeys().current, iv).setAAD(
    Buffer.from(context),
  );
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString("base64");
}

/** @throws Error when the text was changed, or sealed under another secret or context */
export function openText(sealed: string, context: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const { current, previous } = sealingKeys();
  try {
    return open(bytes, context, current);
  } catch (error) {
    if (previous === undefined) throw error;
    return open(bytes, context, previous);
  }
}

function open(bytes: Buffer, context: string, key: Buffer): string {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString("utf8");
}

function sealingKeys(): { readonly current: Buffer; readonly previous: Buffer | undefined } {
  return processWide("sealing keys", () => {
    const { API_KEY_SECRET, API_KEY_SECRET_PREVIOUS: previous } = config();
    const derive = (secret: string) =>
      Buffer.from(hkdfSync("sha256", secret, "", "sealed texts", 32));
    return { current: derive(API_KEY_SECRET), previous: previous ? derive(previous) : undefined };
  });
}
