/**
 * How an API key is spelled: `ap_`, 43 base62 characters of 32 random bytes, 6 of their CRC-32.
 * The checksum lets scanners spot a key and refuses a typo without a look-up. The token of a run,
 * which is presented as a bearer, is spelled alike with `rt_`, so that neither passes for the other.
 */
import { createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 43;
const KEY = /^ap_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const RUN_TOKEN = /^rt_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** Characters shown in key lists. */
export const PREFIX_LENGTH = 7;

export interface NewKey {
  /** Shown once, never stored. */
  readonly raw: string;
  readonly hash: string;
  readonly prefix: string;
}

/** A fresh key; the caller stores `hash` and `prefix`. `secret` is `API_KEY_SECRET`. */
export function newKey(secret: string): NewKey {
  const raw = formatKey(randomBytes(32));
  return { raw, hash: hashKey(raw, secret), prefix: raw.slice(0, PREFIX_LENGTH) };
}

/** @param bytes 32 random bytes */
export const formatKey = (bytes: Uint8Array): string => `ap_${spell(bytes)}`;
/** @param bytes 32 random bytes */
export const formatRunToken = (bytes: Uint8Array): string => `rt_${spell(bytes)}`;

export const isWellFormedKey = (text: string): boolean => isSpelled(KEY, text);
export const isWellFormedRunToken = (text: string): boolean => isSpelled(RUN_TOKEN, text);

function spell(bytes: Uint8Array): string {
  const body = base62(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), SECRET_LENGTH);
  return body + checksum(body);
}

function isSpelled(pattern: RegExp, text: string): boolean {
  const match = pattern.exec(text);
  return match?.[1] !== undefined && checksum(match[1]) === match[2];
}

/** HMAC-SHA256 in hex: all that is ever stored of a key. */
export function hashKey(raw: string, secret: string): string {
  return createHmac("sha256", secret).update(raw).digest("hex");
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), 6);
}

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = "";
  while (text.length < length) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
