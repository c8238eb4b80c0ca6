/** Registers the secrets that a test file creates or receives. */
import { inject } from "vitest";
import { isWellFormedKey } from "../../../lib/identity/keys/key-format.ts";
import { noteCode, noteDisguised, noteSecret } from "./known.ts";

const { records } = inject("stack");

/** Remembers a secret and returns it. */
export function registerSecret(secret: string, kind: string): string {
  noteSecret(records, { secret, kind });
  return secret;
}

export const registerCode = (code: string, email: string): void =>
  noteCode(records, { code, email });

/**
 * For a test whose commands disguise a credential, as no redaction can undo: it may lie where their
 * output lies, but not in clear.
 */
export function registerDisguised(secret: string): void {
  registerSecret(secret, "run credential");
  noteDisguised(records, secret);
}

const KEY = /ap_[0-9A-Za-z]{49}/g;
const WEBHOOK_SECRET = /whsec_[\w+/=-]{24,}/g;
const TRIGGER_SECRET = /trg_[\w-]{43}/g;
const SHARE_TOKEN = /(?<=\/share\/)[\w-]{43}/g;

/** The secrets that an answer hands out. */
export function registerAnswered(text: string): void {
  for (const [key] of text.matchAll(KEY)) if (isWellFormedKey(key)) registerSecret(key, "API key");
  for (const [secret] of text.matchAll(WEBHOOK_SECRET)) registerSecret(secret, "webhook secret");
  for (const [secret] of text.matchAll(TRIGGER_SECRET)) registerSecret(secret, "trigger secret");
  for (const [token] of text.matchAll(SHARE_TOKEN)) registerSecret(token, "share token");
}

/** The credential of a request that was let in. */
export function registerSent(headers: Headers): void {
  const key = headers.get("x-api-key");
  if (key && isWellFormedKey(key)) registerSecret(key, "API key");
  const authorization = headers.get("authorization") ?? "";
  const bearer = /^bearer ([\w-]+\.[\w-]+\.[\w-]+|rt_\w+)$/i.exec(authorization)?.[1];
  if (bearer) registerSecret(bearer, "bearer");
}
