import { crc32 } from "node:zlib";

export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

const ascii = (bytes: Buffer, from: number, to: number): string =>
  bytes.toString("latin1", from, to);

/** The image types that most models accept, with the check that a file is whole. */
const FORMATS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  "image/png": isWholePng,
  "image/jpeg": isWholeJpeg,
  "image/gif": (bytes) =>
    /^GIF8[79]a/.test(ascii(bytes, 0, 6)) && bytes.length > 13 && bytes.includes(0x3b, 13),
  "image/webp": (bytes) =>
    /^RIFF.{4}WEBPVP8[ LX]/s.test(ascii(bytes, 0, 16)) && bytes.length >= bytes.readUInt32LE(4) + 8,
};

/** Returns the type of an image that models accept, by its content; null for everything else and for a cut one. */
export function imageTypeOf(data: Uint8Array): string | null {
  if (data.byteLength > MAX_IMAGE_BYTES) return null;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return Object.entries(FORMATS).find(([, isWhole]) => isWhole(bytes))?.[0] ?? null;
}

function isWholePng(bytes: Buffer): boolean {
  if (ascii(bytes, 0, 8) !== "\x89PNG\r\n\x1a\n") return false;
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + 8 + length;
    const type = ascii(bytes, at + 4, at + 8);
    if (end + 4 > bytes.length || (at === 8) !== (type === "IHDR")) return false;
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return false;
    if (type === "IEND") return hasPixels;
    hasPixels ||= type === "IDAT" && length > 0;
    at = end + 4;
  }
  return false;
}

function isWholeJpeg(bytes: Buffer): boolean {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return false;
  let hasSize = false;
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return false;
    const marker = bytes[at + 1] ?? 0;
    // Fill bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xda) return hasSize && bytes.includes("\xff\xd9", at, "latin1");
    hasSize ||= marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return false;
}
