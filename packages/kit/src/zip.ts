/** Archives, and names of files that other people's file systems get. */
import { createHash } from "node:crypto";
import { posix } from "node:path";
import { makeZip } from "client-zip";

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

/** Separators and reserved characters of Windows, control characters, and invisible ones, which reorder text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\\/:*?"<>|]/gu;
/** Names that Windows opens as devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?= *(?:\.|$))/i;

/** Returns a name of one file that no file system takes for a path, a device or something hidden. */
export function safeFileName(name: string): string {
  const safe = name
    .replace(UNSAFE, "_")
    .replace(/^\.{2,}|[. ]+$/g, "_")
    .replace(DEVICE, "_$&");
  return safe === "" ? "_" : safe;
}

/**
 * Returns the path of an archive's entry. A changed segment gets a hash of the original one, so two
 * entries never become one, and files stay in their folder.
 */
export function safeEntryPath(path: string): string {
  return path
    .split("/")
    .map((segment) => {
      const safe = safeFileName(segment);
      if (safe === segment) return segment;
      const hash = createHash("sha256").update(segment).digest("hex").slice(0, 8);
      const { name, ext } = posix.parse(safe);
      return `${name}-${hash}${ext}`;
    })
    .join("/");
}
