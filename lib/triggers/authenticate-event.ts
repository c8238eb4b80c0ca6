/** The secrets of triggers, and the checks that a request is from someone who has the secret. */
import { createHmac, randomBytes } from "node:crypto";
import { areEqualTexts } from "@platform/kit/equal-texts";
import { config } from "../platform/config.ts";
import { isMadeWithSecret } from "../platform/find-secret.ts";
import { openText, sealText } from "../platform/seal-text.ts";
import type { Signature } from "./contract.ts";

/** The bytes of a secret, as many as the digest that signs (SHA-256) has. */
const SECRET_BYTES = 32;
/** How far the time of a signed request may be from now. */
const TOLERANCE_SECONDS = 5 * 60;

const contextOf = (triggerId: string) => `secret of trigger ${triggerId}`;

/** Returns a new secret as its owner gets it. */
export const newSecret = (signature: Signature | null): string =>
  signature === "standard"
    ? `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`
    : `trg_${randomBytes(SECRET_BYTES).toString("base64url")}`;

/** Returns a secret as it is stored: sealed where it is needed to sign, else its HMAC. */
export const storedSecret = (
  triggerId: string,
  signature: Signature | null,
  secret: string,
): string => (signature === null ? hashSecret(secret) : sealText(secret, contextOf(triggerId)));

const hashSecret = (secret: string, key = config().API_KEY_SECRET): string =>
  createHmac("sha256", key).update(`trigger secret\n${secret}`).digest("hex");

const WHSEC = /^whsec_((?:[A-Za-z0-9+/]{4}){6,}(?:[A-Za-z0-9+/]{2,3}={0,2})?)$/;

/** Returns whether a sender that signs in this way can have the secret. */
export const isSecretOf = (signature: Signature, secret: string): boolean =>
  signature === "standard" ? WHSEC.test(secret) : /^[\x21-\x7e]+$/.test(secret);

export interface SecretOfTrigger {
  readonly id: string;
  readonly signature: Signature | null;
  /** As `storedSecret` has made it. */
  readonly secret: string;
}

/** Returns whether a request that carries this secret is authentic. */
export const isSecret = (trigger: SecretOfTrigger, given: string | null | undefined): boolean =>
  given !== null &&
  given !== undefined &&
  isMadeWithSecret(trigger.secret, (key) => hashSecret(given, key));

/**
 * Returns whether a body was signed with the trigger's secret, and within five minutes where the signature
 * covers a time.
 * @throws Error when the service's `API_KEY_SECRET` is not the one that sealed the secret
 */
export function isSigned(
  { id, secret: sealed }: SecretOfTrigger,
  signature: Signature,
  headers: Headers,
  body: Uint8Array,
): boolean {
  const secret = openText(sealed, contextOf(id));
  const header = (name: string) => headers.get(name) ?? "";
  switch (signature) {
    case "standard":
      return isStandard(Buffer.from(WHSEC.exec(secret)?.[1] ?? "", "base64"), headers, body);
    case "github": {
      const signed = sign(secret, "", body).toString("hex");
      return areEqualTexts(header("x-hub-signature-256"), `sha256=${signed}`);
    }
    case "slack": {
      const time = header("x-slack-request-timestamp");
      const signed = sign(secret, `v0:${time}:`, body).toString("hex");
      return isRecent(time) && areEqualTexts(header("x-slack-signature"), `v0=${signed}`);
    }
  }
}

/**
 * Returns whether Composio has signed a message, within five minutes: like Standard Webhooks, but
 * with the secret as written instead of its base64-decoded bytes.
 */
export function isFromComposio(headers: Headers, body: Uint8Array): boolean {
  const { COMPOSIO_WEBHOOK_SECRET: secret } = config();
  return secret !== undefined && isStandard(secret, headers, body);
}

function isStandard(key: string | Buffer, headers: Headers, body: Uint8Array): boolean {
  const header = (name: string) => headers.get(name) ?? "";
  const time = header("webhook-timestamp");
  const signed = sign(key, `${header("webhook-id")}.${time}.`, body).toString("base64");
  const given = header("webhook-signature").split(" ");
  return isRecent(time) && given.some((one) => areEqualTexts(one, `v1,${signed}`));
}

const sign = (key: string | Buffer, start: string, body: Uint8Array): Buffer =>
  createHmac("sha256", key).update(start).update(body).digest();

const isRecent = (time: string): boolean =>
  /^\d{1,12}$/.test(time) && Math.abs(Date.now() / 1_000 - Number(time)) <= TOLERANCE_SECONDS;
