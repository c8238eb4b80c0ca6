/** Texts that are stored encrypted (AES-256-GCM) and can be read only with the project's secret. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { config } from "./config.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param context what the text belongs to: sealed for one thing, it cannot be opened as another's */
export function sealText(text: string, context: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealingKey(), iv).setAAD(Buffer.from(context));
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString("base64");
}

/** @throws Error when it was changed, or sealed with another secret or for another thing */
export function openText(sealed: string, context: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv("aes-256-gcm", sealingKey(), bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString("utf8");
}

let derived: Buffer | undefined;

function sealingKey(): Buffer {
  derived ??= Buffer.from(hkdfSync("sha256", config().API_KEY_SECRET, "", "sealed texts", 32));
  return derived;
}
