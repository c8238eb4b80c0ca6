/** Detects the type of a file by its first bytes, regardless of its name and of HTTP headers. */

export type MediaKind = "image" | "video" | "audio";

/** The types of images that `sniffType` knows. None of them can hold a script. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** The number of bytes that `sniffType` needs. */
export const SNIFFED_BYTES = 16;

/**
 * Returns the content type of a file that the service accepts, otherwise null. MP4, QuickTime and WebM
 * count as video here, because their tracks are known only after opening the container.
 */
export function sniffType(head: Uint8Array): string | null {
  const text = Buffer.from(head).toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("RIFF")) {
    return { WEBP: "image/webp", WAVE: "audio/wav" }[text.slice(8, 12)] ?? null;
  }
  if (text.slice(4, 8) === "ftyp") return typeOfBrand(text.slice(8, 12));
  if (text.startsWith("\x1a\x45\xdf\xa3")) return "video/webm";
  if (text.startsWith("OggS")) return "audio/ogg";
  if (text.startsWith("fLaC")) return "audio/flac";
  if (text.startsWith("ID3")) return "audio/mpeg";
  return typeOfMpegFrame(head);
}

function typeOfBrand(brand: string): string | null {
  if (/^(avi[fs]|hei[cfmsx]|hev[cmsx]|mif1|msf1)$/.test(brand)) return null;
  if (brand === "M4A " || brand === "M4B ") return "audio/mp4";
  return brand === "qt  " ? "video/quicktime" : "video/mp4";
}

/**
 * MPEG audio has no file header: each frame starts with eleven set bits, the version and the layer.
 */
function typeOfMpegFrame([first = 0, second = 0]: Uint8Array): string | null {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  if ((second & 0xf6) === 0xf0) return "audio/aac";
  const isReserved = (second & 0x18) === 0x08 || (second & 0x06) === 0;
  return isReserved ? null : "audio/mpeg";
}
