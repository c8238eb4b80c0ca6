/** Validates the files of a skill, as they were uploaded or imported. */

import { type AppError, invalidField } from "@platform/endpoint/contract/app-error";
import { skillName } from "@platform/endpoint/contract/run-options";
import { hasTags } from "@platform/endpoint/contract/visible-text";
import { safeFileName } from "@platform/kit/zip";
import { parse } from "yaml";
import { z } from "zod";
import { allowedToolsField } from "./allowed-tools.ts";
import { openArchive } from "./read-archive.ts";
import {
  digestOf,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  SKILL_FILE,
  type SkillFile,
  skillFile,
} from "./skill.ts";
import { splitSkill } from "./skill-file.ts";

/** The files of a skill, which have passed all checks. */
export interface SkillContent {
  readonly name: string;
  readonly description: string;
  readonly files: readonly SkillFile[];
  readonly bytes: number;
  readonly sha256: string;
}

/** The YAML parser takes quadratic time. */
const MAX_HEAD_CHARS = 8_192;
const MAX_PATH_DEPTH = 10;
/** `import` is the address of another endpoint, and `list` an argument of the tool. */
const RESERVED = new Set(["import", "list"]);

const head = z.object({
  name: skillName,
  description: z.string().trim().min(1).max(1_024),
  license: z.string().max(500).optional(),
  compatibility: z.string().max(500).optional(),
  "allowed-tools": allowedToolsField.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** Returns the files of a JSON body or a ZIP archive. Errors: 400. */
export async function readUpload({
  files,
  zip,
}: {
  readonly files?: Readonly<Record<string, string>> | undefined;
  readonly zip?: string | undefined;
}): Promise<readonly SkillFile[] | AppError> {
  if (files) {
    return Object.entries(files).map(([path, text]) => skillFile(path, Buffer.from(text)));
  }
  const archive = openArchive(Buffer.from(zip ?? "", "base64"));
  if (typeof archive === "string") return invalidField("zip", `zip ${archive}`);
  const paths = archive.entries.filter(({ name }) => !name.endsWith("/") && !isLitter(name));
  const top = paths[0]?.name.split("/")[0] ?? "";
  // Archives often have one folder that has everything.
  const isWrapped = paths.every(({ name }) => name.startsWith(`${top}/`));
  return readEntries(archive, paths, isWrapped ? `${top}/` : "", "zip");
}

/** Reads entries of an archive as files of a skill. Errors: 400 for `field`. @param prefix of all their names */
export async function readEntries(
  archive: Archive,
  entries: Archive["entries"],
  prefix: string,
  field: string,
): Promise<readonly SkillFile[] | AppError> {
  if (entries.length > MAX_SKILL_FILES) return tooMany(field);
  const files: SkillFile[] = [];
  let room = MAX_SKILL_BYTES;
  for (const entry of entries) {
    // With the folder around the skill, which is dropped: an unsafe one marks a hostile archive.
    if (!isSafeName(entry.name)) return notAllowed(field, entry.name);
    const bytes = await archive.read(entry, room);
    if (bytes === null) return tooLarge(field);
    room -= bytes.length;
    files.push(skillFile(entry.name.slice(prefix.length), bytes));
  }
  return files;
}

type Archive = Exclude<ReturnType<typeof openArchive>, string>;

const notAllowed = (field: string, path: string): AppError =>
  invalidField(field, `${field}: the path ${JSON.stringify(path.slice(0, 100))} is not allowed`);
const tooMany = (field: string): AppError =>
  invalidField(field, `${field} must have at most ${MAX_SKILL_FILES} files`);
const tooLarge = (field: string): AppError =>
  invalidField(field, `${field} must unpack to at most 1 MiB, without damage or encryption`);

/** Files of operating systems and version control. */
export const isLitter = (path: string): boolean =>
  /(?:^|\/)(?:__MACOSX|\.git|__pycache__|\.DS_Store)(?:\/|$)/.test(path);

/**
 * Checks the files against the Agent Skills format and the limits. Errors: 400 for `field`.
 * @param name that the skill must have; any when absent
 */
export function checkSkill(
  files: readonly SkillFile[],
  field: string,
  name?: string,
): SkillContent | AppError {
  const fault = (problem: string) => invalidField(field, `${field}: ${problem}`);
  const twice = (path: string) =>
    fault(`the path ${JSON.stringify(path.slice(0, 100))} is there twice`);
  if (files.length > MAX_SKILL_FILES) return tooMany(field);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_SKILL_BYTES) return tooLarge(field);
  const paths = new Set<string>();
  for (const { path } of files) {
    if (!isSafePath(path)) return notAllowed(field, path);
    const folded = foldPath(path);
    if (paths.has(folded)) return twice(path);
    paths.add(folded);
  }
  // A name is a file or a folder.
  const inFile = files.find(({ path }) => foldersOf(foldPath(path)).some((one) => paths.has(one)));
  if (inFile) return twice(inFile.path);
  const main = files.find(({ path }) => path === SKILL_FILE);
  if (main?.text === undefined) return fault(`the file ${SKILL_FILE} is missing`);
  const given = readHead(main.text);
  if (!given)
    return fault(`the front matter of ${SKILL_FILE} is not valid YAML with name and description`);
  const parsed = head.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return fault(`${issue?.path.join(".")} of ${SKILL_FILE} is not allowed: ${issue?.message}`);
  }
  if (name !== undefined && parsed.data.name !== name) {
    return fault(`the name in ${SKILL_FILE} is ${parsed.data.name}, not ${name}`);
  }
  if (RESERVED.has(parsed.data.name))
    return fault(`a skill cannot have the name ${parsed.data.name}`);
  const { name: own, description } = parsed.data;
  // The front matter can write them with escapes.
  const hiding = files.find(({ text }) => hasTags(text ?? ""))?.path;
  if (hiding !== undefined || hasTags(JSON.stringify(parsed.data)))
    return fault(`${hiding ?? SKILL_FILE} has invisible tag characters (U+E0000 to U+E007F)`);
  return { name: own, description, files, bytes, sha256: digestOf(files) };
}

function readHead(text: string): unknown {
  const { head: given } = splitSkill(text);
  if (given === "" || given.length > MAX_HEAD_CHARS) return undefined;
  try {
    return parse(given, { maxAliasCount: 0, prettyErrors: false });
  } catch {
    return undefined;
  }
}

const isSafePath = (path: string): boolean =>
  path.length <= 255 && path.split("/").length <= MAX_PATH_DEPTH && isSafeName(path);

/** Returns whether each segment names the same file on every file system, and is displayed as it is. */
const isSafeName = (path: string): boolean =>
  path.split("/").every((part) => safeFileName(part) === part);

/** Returns the path as a file system compares it that ignores case and normal forms: it would keep one of two. */
const foldPath = (path: string): string =>
  path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");

const foldersOf = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
