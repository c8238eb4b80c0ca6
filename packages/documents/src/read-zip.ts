import { Unzip, UnzipInflate } from "fflate";
import { DocumentError } from "./document.ts";

/** Far more than the documents of people have, and little enough for a worker. */
const MAX_UNPACKED_BYTES = 200 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
/** Small pieces stop an endless entry early. */
const PIECE_BYTES = 64 * 1024;

/**
 * Returns the names of a ZIP archive's entries, and the bytes of the entries that `wanted` selects.
 * Every entry is inflated and counted on the way, because the sizes in an archive may be false and
 * libraries unpack without a limit.
 * @throws DocumentError for an archive that unpacks to too much, or is damaged
 */
export function readZip(
  bytes: Uint8Array,
  wanted: (name: string) => boolean = () => false,
): { names: readonly string[]; entries: ReadonlyMap<string, Uint8Array> } {
  const names: string[] = [];
  const chunks = new Map<string, Uint8Array[]>();
  let total = 0;
  const unzip = new Unzip((file) => {
    names.push(file.name);
    if (names.length > MAX_ENTRIES) throw new DocumentError(`has more than ${MAX_ENTRIES} parts`);
    const kept: Uint8Array[] | undefined = wanted(file.name) ? [] : undefined;
    if (kept) chunks.set(file.name, kept);
    file.ondata = (error, chunk) => {
      if (error) throw error;
      total += chunk.length;
      if (total > MAX_UNPACKED_BYTES) {
        throw new DocumentError(`unpacks to more than ${MAX_UNPACKED_BYTES / 1024 / 1024} MB`);
      }
      kept?.push(chunk.slice());
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  try {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      const end = Math.min(from + PIECE_BYTES, bytes.length);
      unzip.push(bytes.subarray(from, end), end === bytes.length);
    }
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw new DocumentError("is damaged");
  }
  const entries = new Map([...chunks].map(([name, list]) => [name, Buffer.concat(list)]));
  return { names, entries };
}
