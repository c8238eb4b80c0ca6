/** Writes PNG files. See the PNG specification, sections 5 and 11. */
import { crc32, deflateSync } from "node:zlib";

export interface GrayImage {
  readonly width: number;
  readonly height: number;
  /** One byte each, from 0 for black. */
  readonly pixels: Uint8Array;
}

/** Sixteen levels are enough for text, and take a third of the bytes of a noisy scan. */
const LEVEL = 17;

export function encodeGrayPng({ width, height, pixels }: GrayImage): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits of gray.
  head.set([8, 0, 0, 0, 0], 8);
  // Each row starts with its filter: 0 for none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rows[y * (width + 1) + 1 + x] = Math.round((pixels[y * width + x] ?? 0) / LEVEL) * LEVEL;
    }
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
