/** How stored files are named, and what they are served as: this and nothing else. */
import { randomBytes } from "node:crypto";
import type { GeneratedFile } from "../port.ts";

export type MediaType = GeneratedFile["contentType"];

const typeOf = {
  mp4: "video/mp4",
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
} as const satisfies Record<string, MediaType>;
type Extension = keyof typeof typeOf;
const extensions = Object.keys(typeOf) as Extension[];

export const MEDIA_TYPES: readonly MediaType[] = Object.values(typeOf);

/** A file of an account's. */
export interface MediaKey {
  readonly accountId: string;
  readonly name: string;
}

const ACCOUNT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAME = new RegExp(`^[0-9a-f]{32}\\.(${extensions.join("|")})$`);

/** 128 random bits: who knows a file's URL may read it, and nobody can guess it. */
export function newMediaKey(accountId: string, contentType: MediaType): MediaKey {
  const extension = extensions.find((one) => typeOf[one] === contentType);
  return { accountId, name: `${randomBytes(16).toString("hex")}.${extension}` };
}

/** Null for anything but a name that `newMediaKey` gives: nothing else ever reaches a path. */
export function parseMediaKey(accountId: string, name: string): MediaKey | null {
  return ACCOUNT.test(accountId) && NAME.test(name) ? { accountId, name } : null;
}

/** By its name, which only `newMediaKey` gives. */
export function mediaTypeOf({ name }: MediaKey): MediaType {
  const extension = extensions.find((one) => name.endsWith(`.${one}`));
  if (!extension) throw new Error("A media key without a known extension");
  return typeOf[extension];
}
