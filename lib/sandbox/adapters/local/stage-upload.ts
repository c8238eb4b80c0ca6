import { randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { SandboxError } from "../../port.ts";
import { STAGED_PREFIX } from "./disk-usage.ts";

/**
 * Writes the content to a file of the session's folder that no command sees, and calls `place` with
 * its name. The file is removed unless `place` has moved it.
 * @param maxBytes more fail with `no_space`
 */
export async function stageUpload<T>(
  folder: string,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
  place: (staged: string) => Promise<T>,
): Promise<T> {
  const staged = `${STAGED_PREFIX}${randomUUID()}`;
  const path = join(folder, staged);
  try {
    // Fails where a file or a link of this name exists.
    const file = await open(path, "wx", 0o644).catch(unavailable);
    try {
      let size = 0;
      for await (const piece of content) {
        size += piece.byteLength;
        if (size > maxBytes) throw new SandboxError("no_space", "No space left in the sandbox");
        await file.writeFile(piece).catch(unavailable);
      }
    } finally {
      await file.close();
    }
    return await place(staged);
  } finally {
    await rm(path, { force: true });
  }
}

function unavailable(error: NodeJS.ErrnoException): never {
  if (error.code === "ENOSPC") throw new SandboxError("disk_full", "No space left on this machine");
  throw new SandboxError("unavailable", `The upload could not be written: ${error.code}`);
}
