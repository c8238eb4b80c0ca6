/** Skills in the Agent Skills format (https://agentskills.io): a SKILL.md file, and further files. */
import { createHash } from "node:crypto";
import { posix } from "node:path";

/** A file of a skill, by its path below the skill's folder. Bytes that are not text are in base64. */
export type SkillFile = { readonly path: string; readonly size: number } & (
  | { readonly text: string; readonly base64?: undefined }
  | { readonly base64: string; readonly text?: undefined }
);

export const SKILL_FILE = "SKILL.md";
export const MAX_SKILL_BYTES = 1024 * 1024;
export const MAX_SKILL_FILES = 100;

/** `sandbox` is a folder of the session's sandbox, where any command can write one. */
export const SKILL_SOURCES = ["sandbox", "account", "organization", "built-in"] as const;

export interface LoadedSkill {
  readonly name: string;
  readonly source: (typeof SKILL_SOURCES)[number];
  /** Null for a skill without versions. */
  readonly version: number | null;
  /** Whether another account has written it, or it was imported. */
  readonly isForeign: boolean;
  readonly files: readonly SkillFile[];
}

/** The skills of a turn, apart from those in its sandbox. */
export interface SkillLibrary {
  list(): Promise<readonly { readonly name: string; readonly description: string }[]>;
  /** Records that the turn has loaded the skill. Resolves to null for a name that it cannot use. */
  load(name: string): Promise<LoadedSkill | null>;
  /** Records that the turn has loaded a skill of its sandbox. */
  recordFromSandbox(name: string): Promise<void>;
}

export const contentOf = (file: SkillFile): string | Uint8Array =>
  file.text ?? Buffer.from(file.base64, "base64");

/** Returns the path of a loaded skill's file in the sandbox, relative to its home. */
export const loadedPath = (name: string, path = SKILL_FILE): string =>
  posix.join(".skills-loaded", name, path);

/** Returns the SHA-256 of all paths and contents, in hex. */
export function digestOf(files: readonly SkillFile[]): string {
  const hash = createHash("sha256");
  for (const file of files.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    hash.update(`${file.path}\0${file.size}\0`).update(contentOf(file));
  }
  return hash.digest("hex");
}

/** Returns the file of these bytes, as text if they are valid UTF-8 that can be stored. */
export function skillFile(path: string, bytes: Uint8Array): SkillFile {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\0")) return { path, size: bytes.length, text };
  } catch {}
  return { path, size: bytes.length, base64: Buffer.from(bytes).toString("base64") };
}
