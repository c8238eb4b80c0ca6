/** Names of files that other people's file systems get. */
import { createHash } from "node:crypto";
import { posix } from "node:path";

/** Separators and reserved characters of Windows, control characters, and invisible ones, which reorder text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\\/:*?"<>|]/gu;
/** Names that Windows opens as devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/** Returns a name of one file that no file system takes for a path, a device or something hidden. */
export function safeFileName(name: string): string {
  const safe = name
    .replace(UNSAFE, "_")
    .replace(/^\.{2,}|[. ]+$/g, "_")
    .replace(DEVICE, "_$&");
  return safe === "" ? "_" : safe;
}

/**
 * Returns the path of an archive's entry. A segment that is changed gets a hash of the original one, so
 * that two entries never become one, and files stay in their folder.
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
