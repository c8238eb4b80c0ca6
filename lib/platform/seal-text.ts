/** Encrypts texts that are stored (AES-256-GCM) under a key derived from API_KEY_SECRET. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { config } from "./config.ts";
import { processWide } from "./process-wide.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param context the owner of the text; it can be opened only with the same context */
export function sealText(text: string, context: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealingKey(), iv).setAAD(Buffer.from(context));
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString("base64");
}

/** @throws Error when the text was changed, or sealed under another secret or context */
export function openText(sealed: string, context: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv("aes-256-gcm", sealingKey(), bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString("utf8");
}

function sealingKey(): Buffer {
  return processWide("sealing key", () =>
    Buffer.from(hkdfSync("sha256", config().API_KEY_SECRET, "", "sealed texts", 32)),
  );
}
