export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** The image types that most models accept, with the check that a file is not cut. */
const FORMATS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  "image/png": (bytes) =>
    startOf(bytes).startsWith("\x89PNG\r\n\x1a\n") &&
    bytes.includes("IEND\xaeB`\x82", bytes.indexOf("IDAT") + 1, "latin1"),
  "image/jpeg": (bytes) => {
    // A preview, which comes first, has scans and an end, too.
    const scan = bytes.lastIndexOf("\xff\xda", undefined, "latin1");
    return startOf(bytes).startsWith("\xff\xd8\xff") && bytes.includes("\xff\xd9", scan, "latin1");
  },
  "image/gif": (bytes) => /^GIF8[79]a/.test(startOf(bytes)) && bytes.includes(0x3b, 13),
  "image/webp": (bytes) =>
    /^RIFF.{4}WEBPVP8[ LX]/s.test(startOf(bytes)) && bytes.length >= bytes.readUInt32LE(4) + 8,
};

const startOf = (bytes: Buffer): string => bytes.toString("latin1", 0, 16);

/** Returns the type of an image that models accept, by its content; null for everything else and for a cut one. */
export function imageTypeOf(data: Uint8Array): string | null {
  if (data.byteLength > MAX_IMAGE_BYTES) return null;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return Object.entries(FORMATS).find(([, isWhole]) => isWhole(bytes))?.[0] ?? null;
}
