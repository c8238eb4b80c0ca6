import { posix } from "node:path";
import type { DocumentText, Sheet } from "@platform/documents/document";
import { cutName } from "@platform/kit/cut-name";
import type { Sandbox } from "@platform/sandbox/port";
import { quotePath } from "./tools/limits.ts";

export const HOME = "/home/agent";
/** A sandbox takes files of 10 MiB. Characters of up to three bytes are counted as such. */
const PART_CHARS = 3 * 1024 * 1024;
const JOIN_DEADLINE_MS = 60_000;

/** A sheet that is in the sandbox as CSV. */
interface StoredSheet {
  readonly path: string;
  readonly rows: number;
}

/**
 * Writes the sheets of a spreadsheet into the sandbox, each to `.converted/<file>/<sheet>.csv`.
 * @throws SandboxError
 */
export async function storeSheets(
  sandbox: Sandbox,
  filePath: string,
  sheets: readonly Sheet[],
  signal: AbortSignal,
): Promise<StoredSheet[]> {
  const stored: StoredSheet[] = [];
  for (const { path, csv, rows } of placed(filePath, sheets)) {
    await writeLarge(sandbox, path, csv, signal);
    stored.push({ path, rows });
  }
  return stored;
}

/** Returns the path in the sandbox for the conversion of a file. */
function convertedPath(filePath: string): string {
  const relative = posix.relative(HOME, posix.resolve(HOME, filePath));
  return `${HOME}/.converted/${relative.startsWith("..") ? posix.basename(filePath) : relative}`;
}

/**
 * Writes a text that was in another encoding into the sandbox, as UTF-8.
 * @returns its path
 * @throws SandboxError
 */
export async function storeText(
  sandbox: Sandbox,
  filePath: string,
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const path = `${convertedPath(filePath)}.utf8`;
  await writeLarge(sandbox, path, text, signal);
  return path;
}

/** Returns the sheets with their paths, which are different also for sheets with similar names. */
function placed(filePath: string, sheets: readonly Sheet[]) {
  const taken = new Set<string>();
  return sheets.map((sheet) => {
    const base = cutName(sheet.name.replace(/[^\p{L}\p{N} ._-]/gu, "_"), { characters: 100 });
    let name = base;
    for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${base} ${n}`;
    taken.add(name.toLowerCase());
    return { ...sheet, path: `${convertedPath(filePath)}/${name}.csv` };
  });
}

async function writeLarge(
  sandbox: Sandbox,
  path: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  if (text.length <= PART_CHARS) return sandbox.writeFile(path, text);
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const lineEnd = text.lastIndexOf("\n", from + PART_CHARS);
    const end = lineEnd > from ? lineEnd + 1 : from + PART_CHARS;
    const part = `${path}.${parts.length}`;
    await sandbox.writeFile(part, text.slice(from, end));
    parts.push(part);
    from = end;
  }
  const quoted = parts.map(quotePath).join(" ");
  const options = { timeoutMs: JOIN_DEADLINE_MS, maxOutputChars: 1_000, signal };
  const command = `cat ${quoted} > ${quotePath(path)}; rm -f ${quoted}`;
  await sandbox.run(command, options);
}

/** Returns a document as the agent reads it. Its first line names the kind of document. */
export function textOf({ about, sections }: DocumentText, sheets: readonly StoredSheet[]): string {
  const stored = sheets.map(({ path, rows }) => `As CSV with ${rows} rows: ${path}`);
  const text = sections.map(({ title, text }) => (title ? `--- ${title} ---\n${text}` : text));
  return `${[about, ...stored].join(" ")}\n\n${text.join("\n\n")}\n`;
}
