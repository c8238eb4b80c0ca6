import { createTwoFilesPatch } from "diff";

/** The time of a comparison grows with the product of a text's length and its changes. */
const MAX_EDITS = 2_000;

/** Returns the changes of a text as a unified diff; undefined if they are too many. */
export const unifiedDiff = (
  [nameBefore, nameAfter]: readonly [string, string],
  before: string,
  after: string,
): string | undefined =>
  createTwoFilesPatch(nameBefore, nameAfter, before, after, undefined, undefined, {
    maxEditLength: MAX_EDITS,
  });

interface DiffFile {
  readonly path: string;
  /** Absent or null for a file that is no text. */
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
  for (const path of paths) {
    const old = before.find((file) => file.path === path);
    const next = after.find((file) => file.path === path);
    if (old?.text === next?.text && old?.base64 === next?.base64) continue;
    const names = [old ? `a/${path}` : "/dev/null", next ? `b/${path}` : "/dev/null"] as const;
    const isText =
      typeof (old ?? next)?.text === "string" && typeof (next ?? old)?.text === "string";
    const patch = isText && unifiedDiff(names, old?.text ?? "", next?.text ?? "");
    parts.push(patch || `--- ${names[0]}\n+++ ${names[1]}\nThe file is replaced.\n`);
  }
  return parts.join("\n");
}
