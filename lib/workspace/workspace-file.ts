/** Files of workspaces as callers see them, and their limits. */

import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";

export const MAX_WORKSPACE_BYTES = 1024 ** 3;
export const MAX_FILE_BYTES = 100 * 1024 ** 2;
export const MAX_FILES = 10_000;
/** Older versions of a file are deleted with a newer one. */
export const MAX_VERSIONS = 100;

const MAX_PATH_CHARS = 500;
const MAX_SEGMENTS = 20;
/** The maximum of common file systems. */
const MAX_SEGMENT_BYTES = 255;

/** Returns whether a text in the normal form NFC is the path of a file in a workspace. */
export function isWorkspacePath(path: string): boolean {
  const segments = path.split("/");
  return (
    path.length <= MAX_PATH_CHARS &&
    segments.length <= MAX_SEGMENTS &&
    path.isWellFormed() &&
    path === path.normalize("NFC") &&
    !/\p{Cc}/u.test(path) &&
    segments.every(
      (segment) =>
        !["", ".", ".."].includes(segment) && Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES,
    )
  );
}

export const workspacePath = z
  .string()
  .max(MAX_PATH_CHARS)
  .normalize("NFC")
  .refine(isWorkspacePath, {
    error: `path must be the relative path of a file: at most ${MAX_SEGMENTS} segments without control characters, none of them empty, "." or ".."`,
  });

export const workspaceVersion = z
  .object({
    path: z.string(),
    version: z.int().meta({ description: "Counts from 1 for each file" }),
    size: z.int().nullable().meta({ description: "In bytes; null for a deletion" }),
    sha256: z.string().nullable(),
    deleted: z.boolean().meta({ description: "Whether this version is the deletion of the file" }),
    conflict_of: z.string().nullable().meta({
      description:
        "The path at which the author's run has met a newer version of another, which stays there",
    }),
    author: z.object({
      account_id: uuid,
      run_id: z.string().nullable().meta({ description: "Null unless a run has written it" }),
    }),
    created_at: dateTime,
  })
  .meta({ id: "WorkspaceVersion" });
export type WorkspaceVersion = z.output<typeof workspaceVersion>;
