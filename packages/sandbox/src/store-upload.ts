import { posix } from "node:path";
import { cutName } from "@platform/kit/cut-name";
import { isSandboxError, type Sandbox, SandboxError } from "./port.ts";

const UPLOADS = "uploads";
const MAX_NAME_CHARS = 100;
const MAX_STEM_BYTES = 150;
const MAX_ENDING_BYTES = 90;
const MAX_SAME_NAMES = 100;

/**
 * Stores a file that came with a message in the folder `uploads` of the sandbox's home. A file of the
 * same name and content is used again, so a repetition stores nothing twice. A file with another content
 * keeps its name, and the new one gets a number.
 * @param name as the client sent it
 * @returns the path relative to the home. Throws a SandboxError.
 */
export async function storeUpload(
  sandbox: Sandbox,
  name: string,
  bytes: Uint8Array,
): Promise<string> {
  const { name: stem, ext } = posix.parse(safeName(name));
  for (let number = 1; number <= MAX_SAME_NAMES; number++) {
    const path = posix.join(UPLOADS, number === 1 ? stem + ext : `${stem}-${number}${ext}`);
    const found = await contentOf(sandbox, path);
    if (found === "none") await sandbox.writeFile(path, bytes);
    if (found === "none" || (found !== "other" && Buffer.from(found).equals(bytes))) return path;
  }
  throw new SandboxError("refused", "Too many files have this name");
}

/** `other` is a folder, or a file that is too large to be one of a message. */
async function contentOf(sandbox: Sandbox, path: string): Promise<Uint8Array | "none" | "other"> {
  try {
    return await sandbox.readFile(path);
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    if (error.code === "not_found") return "none";
    if (error.code === "refused" || error.code === "too_large") return "other";
    throw error;
  }
}

/** Returns the last segment without characters that a shell, a file system or a reader could misunderstand. */
function safeName(name: string): string {
  const last = name.normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/^[.\s-]+|[.\s]+$/g, "");
  const { name: stem, ext } = posix.parse(plain);
  const end = cutName(ext, { characters: MAX_NAME_CHARS / 2, bytes: MAX_ENDING_BYTES });
  const room = { characters: MAX_NAME_CHARS - [...end].length, bytes: MAX_STEM_BYTES };
  return `${cutName(stem, room) || "file"}${end}`;
}
