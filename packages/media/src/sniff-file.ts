import { open } from "node:fs/promises";
import { SNIFFED_BYTES, sniffType } from "./sniff-type.ts";

/** Returns the content type of a file by its first bytes; null when the service does not accept it. */
export async function sniffFile(path: string): Promise<string | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
    return sniffType(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
