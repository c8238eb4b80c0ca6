import { gzipSync } from "node:zlib";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** Bit 11: names are UTF-8. */
const UTF8 = 0x0800;
const DEFLATE = 8;
const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;

/** Returns a ZIP archive of less than 4 GiB. @param files by paths with `/` */
export function zipOf(
  files: readonly { readonly path: string; readonly content: Uint8Array }[],
): Uint8Array {
  const entries: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of files) {
    const name = Buffer.from(path);
    // gzip wraps the same deflated bytes, and has their checksum at its end.
    const gzip = gzipSync(content);
    const packed = gzip.subarray(GZIP_HEADER_BYTES, -GZIP_TRAILER_BYTES);
    /** The fields that both headers have. */
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(UTF8, 2);
    common.writeUInt16LE(DEFLATE, 4);
    common.writeUInt32LE(gzip.readUInt32LE(gzip.length - GZIP_TRAILER_BYTES), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(CENTRAL, 0);
    common.copy(central, 6);
    central.writeUInt32LE(offset, 42);
    directory.push(central, name);
    const entry = Buffer.concat([uint32(LOCAL), common, name, packed]);
    entries.push(entry);
    offset += entry.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...entries, ...directory, end]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
