/** The files of a run's sandbox that its mails have attached. The sandbox is hostile, and may be slow or gone. */
import { posix } from "node:path";
import { isAppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import type { FolderEntry, SandboxFiles } from "@platform/sandbox/port";
import type { Attachment } from "../mail/port.ts";
import type { Parts } from "../parts.ts";
import { withSandboxFiles } from "../sandbox/sandbox-files.ts";
import { matchesPattern } from "./match-pattern.ts";
import type { ResultJob } from "./store.ts";

const MAX_TOTAL_BYTES = 10 * 1024 * 1024;
const MAX_FILES = 20;
const MAX_NAME_CHARS = 150;
const MAX_REMARKS = 20;
/** For all files of a mail. */
export const ATTACH_DEADLINE_MS = 30_000;

export interface AttachedFiles {
  readonly files: readonly Attachment[];
  /** About files that are not attached. */
  readonly remarks: readonly string[];
}

/** Never throws: a file that cannot be read is named in the remarks. */
export async function attachFiles(
  app: Parts<"db" | "sandboxes">,
  { accountId, sessionId, entry, runId }: ResultJob,
): Promise<AttachedFiles> {
  const patterns = entry.attach ?? [];
  const files: Attachment[] = [];
  const remarks: string[] = [];
  if (patterns.length === 0 || sessionId === null) return { files, remarks };
  const reading = withSandboxFiles(
    app,
    { accountId, sessionId, log: log() },
    (sandbox) => readFiles(sandbox, patterns, { files, remarks }),
    {},
  ).catch((error: unknown) => log().warn({ err: error, runId }, "files were not attached"));
  const late = new Promise<"late">((resolve) => {
    setTimeout(() => resolve("late"), ATTACH_DEADLINE_MS).unref();
  });
  const result = await Promise.race([reading, late]);
  const more = remarks.length - MAX_REMARKS;
  const shown = remarks.slice(0, MAX_REMARKS);
  if (more > 0) shown.push(`${more} more files are not attached.`);
  if (result === "done") return { files, remarks: shown };
  const isGone = isAppError(result) && result.code === "sandbox_missing";
  const cause = isGone ? "are gone with the sandbox" : "could not all be read";
  shown.push(`The files that match ${patterns.map(quote).join(", ")} ${cause}.`);
  return { files: [...files], remarks: shown };
}

/** Adds the matching files to `found`. */
export async function readFiles(
  sandbox: SandboxFiles,
  patterns: readonly string[],
  found: { readonly files: Attachment[]; readonly remarks: string[] },
): Promise<"done"> {
  const { files, remarks } = found;
  const seen = new Set<string>();
  let bytes = 0;
  for (const pattern of patterns) {
    const matches = await filesThatMatch(sandbox, pattern);
    if (matches.length === 0) remarks.push(`No file matches ${quote(pattern)}.`);
    for (const { path, size } of matches) {
      if (seen.has(path)) continue;
      seen.add(path);
      const hasRoom = files.length < MAX_FILES && bytes + size <= MAX_TOTAL_BYTES;
      const content = hasRoom ? await sandbox.readFile(path).catch(() => null) : undefined;
      if (content === null) remarks.push(`${quote(path)} could not be read.`);
      else if (content === undefined || bytes + content.byteLength > MAX_TOTAL_BYTES) {
        remarks.push(`${quote(path)} is too large to attach: open the run to get it.`);
      } else {
        bytes += content.byteLength;
        files.push({ filename: nameOf(path, files), content });
      }
    }
  }
  return "done";
}

/** Lists as little of the sandbox as the pattern allows. */
async function filesThatMatch(sandbox: SandboxFiles, pattern: string): Promise<FolderEntry[]> {
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => part.includes("*"));
  const depth = wild === -1 ? parts.length - 1 : wild;
  const folder = parts.slice(0, depth).join("/") || ".";
  const listed = await (depth === parts.length - 1 && parts[depth] !== "**"
    ? sandbox.listFolder(folder).then(({ entries }) => entries)
    : sandbox.listTree(folder)
  ).catch((): readonly FolderEntry[] => []);
  return listed
    .map((entry) => ({ ...entry, path: posix.join(folder, entry.path) }))
    .filter(({ type, path }) => type === "file" && matchesPattern(posix.normalize(pattern), path))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

const quote = (path: string): string => `“${singleLine(path)}”`;

/** Returns a name without folders, and unlike the others. */
function nameOf(path: string, files: readonly Attachment[]): string {
  const clean = singleLine(posix.basename(path)).replace(/[\\/:*?"<>|;]/g, "_");
  const name = (clean || "file").slice(-MAX_NAME_CHARS).toWellFormed();
  const isTaken = files.some(({ filename }) => filename === name);
  return isTaken ? `${files.length + 1}-${name}` : name;
}

/** Returns a text without control characters and marks that reorder it. */
export const singleLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .toWellFormed();
