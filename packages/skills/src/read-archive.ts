/** Reads single entries of ZIP archives that strangers have made. No size that an archive states is believed. */
import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";

const inflate = promisify(inflateRaw);

const MAX_ENTRIES = 20_000;
const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const CENTRAL = 0x02014b50;
const CENTRAL_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;

export interface ArchiveEntry {
  /** With `/` between its segments, and at the end of a folder. As it is in the archive, so it may be hostile. */
  readonly name: string;
  readonly method: number;
  readonly packedBytes: number;
  readonly offset: number;
}

/**
 * Returns the entries and the comment of an archive, and a function that resolves to an entry's
 * bytes, or to null if they are more than `maxBytes`, damaged, encrypted, or packed in another way
 * than deflate. Returns the problem, as the rest of a sentence, for bytes that are not an archive.
 */
export function openArchive(bytes: Buffer) {
  const end = findEnd(bytes);
  if (end === null) return "is not a ZIP archive";
  const count = bytes.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) return `has more than ${MAX_ENTRIES} entries`;
  const entries: ArchiveEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_BYTES > end || bytes.readUInt32LE(at) !== CENTRAL) return "is damaged";
    const nameEnd = at + CENTRAL_BYTES + bytes.readUInt16LE(at + 28);
    const isEncrypted = (bytes.readUInt16LE(at + 8) & 1) !== 0;
    entries.push({
      name: bytes.toString("utf8", at + CENTRAL_BYTES, nameEnd),
      method: isEncrypted ? -1 : bytes.readUInt16LE(at + 10),
      packedBytes: bytes.readUInt32LE(at + 20),
      offset: bytes.readUInt32LE(at + 42),
    });
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  const comment = bytes.toString("utf8", end + END_BYTES);
  return {
    entries,
    comment,
    read: (entry: ArchiveEntry, maxBytes: number) => readEntry(bytes, entry, maxBytes),
  };
}

async function readEntry(
  bytes: Buffer,
  { method, packedBytes, offset }: ArchiveEntry,
  maxBytes: number,
): Promise<Uint8Array | null> {
  if (offset + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(offset) !== LOCAL) return null;
  const start =
    offset + LOCAL_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const packed = bytes.subarray(start, start + packedBytes);
  if (method === 0) return packed.length > maxBytes ? null : packed;
  if (method !== 8) return null;
  // It ends with an error when there is more. A limit of 0 is none for zlib.
  return inflate(packed, { maxOutputLength: maxBytes + 1 }).then(
    (all) => (all.length > maxBytes ? null : all),
    () => null,
  );
}

/** The last record of an archive, which is followed by nothing but its comment. */
function findEnd(bytes: Buffer): number | null {
  const last = bytes.length - END_BYTES;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); at--) {
    if (
      bytes.readUInt32LE(at) === END &&
      at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length
    ) {
      return at;
    }
  }
  return null;
}
