/** The files of a workspace as a person browses them. */
import type { WorkspaceVersion } from "@/lib/workspace/workspace-file.ts";

export interface FolderEntry {
  /** Ends with a slash for a folder. */
  readonly path: string;
  readonly name: string;
  /** In bytes; of a folder the sum. */
  readonly size: number;
  readonly changedAt: string;
  /** The passage that a search has found. */
  readonly snippet?: string;
}

const entryOf = ({ path, size, created_at: changedAt }: WorkspaceVersion) => ({
  ...{ path, name: path, size: size ?? 0, changedAt },
});

/**
 * Returns the folders and then the files of a folder, by name.
 * @param files all files below the folder, the last changed first
 */
export function folderEntries(files: readonly WorkspaceVersion[], folder: string): FolderEntry[] {
  const entries = new Map<string, FolderEntry>();
  for (const file of files) {
    const [name = "", ...rest] = file.path.slice(folder.length).split("/");
    const path = `${folder}${name}${rest.length > 0 ? "/" : ""}`;
    const { size, changedAt } = entryOf(file);
    const known = entries.get(path);
    entries.set(
      path,
      known ? { ...known, size: known.size + size } : { path, name, size, changedAt },
    );
  }
  const rank = ({ path }: FolderEntry) => (path.endsWith("/") ? 0 : 1);
  return [...entries.values()].sort(
    (one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name),
  );
}

/** Returns the files whose text has the words of a search, the best first, then those with the words in their paths. */
export function foundEntries(
  files: readonly WorkspaceVersion[],
  text: string,
  results: readonly { readonly path: string; readonly snippet: string }[],
): FolderEntry[] {
  const byPath = new Map(files.map((file) => [file.path, entryOf(file)]));
  const found = results.map(({ path, snippet }) => ({
    ...{ path, name: path, size: 0, changedAt: "" },
    ...byPath.get(path),
    snippet,
  }));
  for (const { path } of found) byPath.delete(path);
  const words = text.toLowerCase().split(/\s+/);
  const named = [...byPath.values()].filter(({ path }) =>
    words.every((word) => path.toLowerCase().includes(word)),
  );
  return [...found, ...named];
}
