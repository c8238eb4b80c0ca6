/**
 * The format of an API key: `ap_`, 43 base62 characters of 32 random bytes, and 6 of their CRC-32.
 * The checksum lets secret scanners recognize a key and rejects a typo without a look-up. The bearer
 * token of a run has the same format with `rt_`; the prefix distinguishes both from a JWT.
 */
import { createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 43;
const KEY = /^ap_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const RUN_TOKEN = /^rt_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** The number of characters that key lists show. */
export const PREFIX_LENGTH = 7;

export interface NewKey {
  /** The key's text, which is shown once and never stored. */
  readonly raw: string;
  readonly hash: string;
  readonly prefix: string;
}

/** Creates a key, of which only `hash` and `prefix` are stored. @param secret API_KEY_SECRET */
export function newKey(secret: string): NewKey {
  const raw = formatKey(randomBytes(32));
  return { raw, hash: hashKey(raw, secret), prefix: raw.slice(0, PREFIX_LENGTH) };
}

/** @param bytes 32 random bytes */
export const formatKey = (bytes: Uint8Array): string => `ap_${encode(bytes)}`;
/** @param bytes 32 random bytes */
export const formatRunToken = (bytes: Uint8Array): string => `rt_${encode(bytes)}`;

export const isWellFormedKey = (text: string): boolean => isWellFormed(KEY, text);
export const isWellFormedRunToken = (text: string): boolean => isWellFormed(RUN_TOKEN, text);

function encode(bytes: Uint8Array): string {
  const body = base62(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), SECRET_LENGTH);
  return body + checksum(body);
}

function isWellFormed(pattern: RegExp, text: string): boolean {
  const match = pattern.exec(text);
  return match?.[1] !== undefined && checksum(match[1]) === match[2];
}

/** Returns the HMAC-SHA256 of a key in hex, as the database stores it. */
export function hashKey(raw: string, secret: string): string {
  return createHmac("sha256", secret).update(raw).digest("hex");
}

/** Returns the form in which the database records the secret of its servers, for comparison. */
export const fingerprintOf = (secret: string): string =>
  createHmac("sha256", secret).update("fingerprint of API_KEY_SECRET").digest("hex");

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
