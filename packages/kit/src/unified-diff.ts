import { createTwoFilesPatch } from "diff";

/** The time of a comparison grows with the square of the lines that change. */
const MAX_EDITS = 1_000;
/** The limit of a file after others that have used all. */
const MIN_EDITS = 20;

/** Returns the changes of a text as a unified diff; undefined if they are too many. */
export const unifiedDiff = (
  [nameBefore, nameAfter]: readonly [string, string],
  before: string,
  after: string,
  maxEditLength = MAX_EDITS,
): string | undefined =>
  createTwoFilesPatch(nameBefore, nameAfter, before, after, undefined, undefined, {
    maxEditLength,
  });

interface DiffFile {
  readonly path: string;
  /** Absent or null for a file that is not text. */
  readonly text?: string | null | undefined;
  readonly base64?: string | undefined;
}

/** Returns the changes of all files as one unified diff. */
export function unifiedDiffOfFiles(
  before: readonly DiffFile[],
  after: readonly DiffFile[],
): string {
  const paths = [...new Set([...before, ...after].map(({ path }) => path))].sort();
  const parts: string[] = [];
  let edits = MAX_EDITS;
  for (const path of paths) {
    const old = before.find((file) => file.path === path);
    const next = after.find((file) => file.path === path);
    if (old?.text === next?.text && old?.base64 === next?.base64) continue;
    const names = [old ? `a/${path}` : "/dev/null", next ? `b/${path}` : "/dev/null"] as const;
    const isText =
      typeof (old ?? next)?.text === "string" && typeof (next ?? old)?.text === "string";
    const patch = isText && unifiedDiff(names, old?.text ?? "", next?.text ?? "", edits);
    const used = patch ? (patch.match(/^[+-]/gm)?.length ?? 0) : edits / 2;
    if (isText) edits = Math.max(MIN_EDITS, Math.floor(edits - used));
    parts.push(patch || `--- ${names[0]}\n+++ ${names[1]}\nThe file is replaced.\n`);
  }
  return parts.join("\n");
}
