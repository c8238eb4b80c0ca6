/** The names and the content types of stored files. */
import { randomBytes } from "node:crypto";

const typeOf = {
  mp4: "video/mp4",
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  mov: "video/quicktime",
  webm: "video/webm",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  wav: "audio/wav",
  ogg: "audio/ogg",
  flac: "audio/flac",
  aac: "audio/aac",
} as const;
type Extension = keyof typeof typeOf;
export type MediaType = (typeof typeOf)[Extension];
const extensions = Object.keys(typeOf) as Extension[];

export const MEDIA_TYPES: readonly MediaType[] = Object.values(typeOf);
export const isMediaType = (type: string | null): type is MediaType =>
  MEDIA_TYPES.some((one) => one === type);

/** Identifies a file of an account. */
export interface MediaKey {
  readonly accountId: string;
  readonly name: string;
}

const ACCOUNT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAME = new RegExp(`^[0-9a-f]{32}\\.(${extensions.join("|")})$`);

/** Creates a name with 128 random bits: a file is public to anyone who knows its URL. */
export function newMediaKey(accountId: string, contentType: MediaType): MediaKey {
  const extension = extensions.find((one) => typeOf[one] === contentType);
  return { accountId, name: `${randomBytes(16).toString("hex")}.${extension}` };
}

/** Returns null for anything that `newMediaKey` cannot create, so nothing else reaches a path. */
export function parseMediaKey(accountId: string, name: string): MediaKey | null {
  return ACCOUNT.test(accountId) && NAME.test(name) ? { accountId, name } : null;
}

/** Returns the content type by the extension of the name. */
export function mediaTypeOf({ name }: MediaKey): MediaType {
  const extension = extensions.find((one) => name.endsWith(`.${one}`));
  if (!extension) throw new Error("The media key has no known extension");
  return typeOf[extension];
}
