/** What a file is by its first bytes, whatever its name or its server say. */

export type MediaKind = "image" | "video" | "audio";

/** How many bytes are enough. */
export const SNIFFED_BYTES = 16;

/**
 * The content type of a file that the service takes, else null. A container (MP4, QuickTime, WebM)
 * is told as a video here: only who opens it knows its tracks.
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
  return typeOfFrame(head);
}

function typeOfBrand(brand: string): string | null {
  if (/^(avi[fs]|hei[cfmsx]|hev[cmsx]|mif1|msf1)$/.test(brand)) return null;
  if (brand === "M4A " || brand === "M4B ") return "audio/mp4";
  return brand === "qt  " ? "video/quicktime" : "video/mp4";
}

/** MPEG audio has no head of its own: eleven set bits open each frame, then version and layer. */
function typeOfFrame([first = 0, second = 0]: Uint8Array): string | null {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  if ((second & 0xf6) === 0xf0) return "audio/aac";
  const isReserved = (second & 0x18) === 0x08 || (second & 0x06) === 0;
  return isReserved ? null : "audio/mpeg";
}
