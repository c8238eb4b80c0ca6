import { makeZip } from "client-zip";
import { safeEntryPath } from "./file-name.ts";

export interface ZipEntry {
  /** Relative, with `/` between its segments. Unsafe characters in them are replaced. */
  readonly name: string;
  readonly modifiedAt: Date;
  /** Null for a folder. */
  readonly content: AsyncIterable<Uint8Array> | string | null;
}

/** The ZIP format has no earlier date. */
const FIRST_DATE = new Date(1980, 0, 1);

/**
 * Streams a ZIP archive without compression. An entry is asked for, and its content read, only when the
 * reader has taken the previous ones.
 */
export function streamZip(
  entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
): ReadableStream<Uint8Array> {
  return makeZip(described(entries));
}

async function* described(entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>) {
  for await (const { name: path, modifiedAt, content } of entries) {
    const name = safeEntryPath(path);
    const lastModified = modifiedAt < FIRST_DATE ? FIRST_DATE : modifiedAt;
    yield content === null ? { name, lastModified } : { name, lastModified, input: content };
  }
}
