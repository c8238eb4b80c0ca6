"use client";
import { visibleName } from "@platform/kit/visible-name";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import type { searchWorkspaceContract } from "@/lib/workspace/contract.ts";
import type { WorkspaceVersion } from "@/lib/workspace/workspace-file.ts";
import type { Answer } from "../_api/request.ts";
import { useArtists } from "../_hooks/shared-reads.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { useScope } from "../_session/scope.ts";
import { SearchInput, Select } from "../_ui/form.tsx";
import { formatBytes } from "../_ui/format.ts";
import { Folder, FolderOpen, Upload } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { BackLink, Page, PageHeader } from "../_ui/page-header.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { UploadButton } from "../_ui/upload-button.tsx";
import { FileDrop } from "../chat/_conversation/file-drop.tsx";
import { FileName, FileTypeIcon } from "../chat/_message/file-type-icon.tsx";
import { uploadFile } from "../chat/_state/upload-file.ts";
import { apiPath, FilePage, MemoryProposals, pagePath } from "./file-page.tsx";

const TYPING_PAUSE_MS = 250;

/** The files of the account or an artist, which all of their chats share: a folder, or one file. */
export function FilesPage() {
  const params = useSearchParams();
  const scope = useScope();
  const artist = params.get("artist") ?? scope.artist?.id ?? "";
  const path = params.get("path");
  return (
    <Page>
      {path === null ? (
        <FolderPage key={artist} artist={artist} folder={params.get("folder") ?? ""} />
      ) : (
        <FilePage artist={artist} address={path} version={params.get("version")} />
      )}
    </Page>
  );
}

function FolderPage({ artist, folder }: Record<"artist" | "folder", string>) {
  const router = useRouter();
  const artists = useArtists();
  const [text, setText] = useState("");
  const [q, setQ] = useState("");
  const [isUploading, setUploading] = useState(false);
  const query = { limit: "100", ...(folder && { prefix: folder }) };
  const files = usePages<WorkspaceVersion>(apiPath("files", artist, query), "files");
  const { items, hasMore, loading, error, loadMore } = files;
  const searchPath = q === "" ? null : apiPath("search", artist, { q });
  const found = useQuery<Answer<typeof searchWorkspaceContract>>(searchPath).data?.results ?? [];
  // A folder is complete with the last page.
  useEffect(() => {
    if (hasMore && !loading && error === null) loadMore();
  }, [hasMore, loading, error, loadMore]);
  useEffect(() => {
    const timer = setTimeout(() => setQ(text.trim()), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const upload = async (chosen: Iterable<File>) => {
    setUploading(true);
    for (const file of chosen) {
      // Pasted screenshots all have one name, and would be versions of one file.
      const time = new Date().toISOString().slice(0, 19).replaceAll(":", ".");
      const name = file.name === "image.png" ? `Pasted ${time}.png` : file.name;
      const address = apiPath("files/content", artist, { path: folder + name });
      const failure = await uploadFile({ address, file, onProgress: () => {} });
      toast(
        `${visibleName(name)}: ${failure ?? "uploaded"}`,
        failure === null ? "success" : "danger",
      );
    }
    setUploading(false);
    await files.refresh();
  };
  const latest = useRef(upload);
  latest.current = upload;
  useEffect(() => {
    const paste = ({ clipboardData: given }: ClipboardEvent) => {
      if (given?.files.length) void latest.current(given.files);
    };
    addEventListener("paste", paste);
    return () => removeEventListener("paste", paste);
  }, []);
  const entries = (all: readonly WorkspaceVersion[]) =>
    q === "" ? folderEntries(all, folder) : foundEntries(all, q, found);
  return (
    <FileDrop onFiles={upload} text="Drop files to upload them" className="relative min-h-[70vh]">
      <PageHeader
        title="Files"
        description="Contracts, statements and notes that all chats share. Earlier versions stay, and each says who wrote it."
      >
        <UploadButton icon={Upload} busy={isUploading} multiple onFiles={upload}>
          Upload
        </UploadButton>
      </PageHeader>
      <MemoryProposals artist={artist} onAccepted={files.refresh} />
      <div className="mb-4 flex flex-wrap gap-3">
        <Select
          aria-label="Whose files"
          className="w-full sm:w-56"
          value={artist}
          onChange={(id) => router.push(pagePath(id))}
          options={artists.map(({ account_id: value, name: label }) => ({ value, label }))}
        >
          <option value="">Your account</option>
        </Select>
        <SearchInput
          label="Search the files"
          placeholder="Name or words of the text"
          className="sm:w-96"
          maxLength={250}
          value={text}
          onChange={setText}
        />
      </div>
      {folder !== "" && (
        <BackLink href={pagePath(artist, { folder: folder.replace(/[^/]+\/$/, "") })}>
          {visibleName(folder)}
        </BackLink>
      )}
      <PagedList
        label="Files"
        pages={{ ...files, items: items && entries(items), hasMore: false }}
        keyOf={({ path }) => path}
        empty={
          <EmptyState
            icon={FolderOpen}
            title={q === "" ? "No files yet" : "Nothing found"}
            text="Drop contracts, statements or notes here, paste them, or choose Upload. Agents find them in every chat."
          />
        }
      >
        {(entry) => <Entry artist={artist} entry={entry} />}
      </PagedList>
    </FileDrop>
  );
}

function Entry({ artist, entry }: { readonly artist: string; readonly entry: FolderEntry }) {
  const { path, name, size, changedAt, snippet } = entry;
  const isFolder = path.endsWith("/");
  const note = path === "MEMORY.md" ? "What agents remember from chat to chat" : undefined;
  return (
    <Link
      href={pagePath(artist, isFolder ? { folder: path } : { path })}
      className="flex items-center gap-3 px-4 py-2.5 text-sm text-muted-foreground hover:bg-muted"
    >
      {isFolder ? (
        <Folder aria-hidden className="m-2.5 size-5 shrink-0" />
      ) : (
        <FileTypeIcon name={name} />
      )}
      <span className="min-w-0 flex-1">
        <FileName className="block truncate text-base font-medium text-foreground" name={name} />
        <span className="line-clamp-2 wrap-anywhere">{snippet ?? note}</span>
      </span>
      {changedAt !== "" && (
        <>
          <span>{formatBytes(size)}</span>
          <RelativeTime date={changedAt} className="w-28 text-right max-sm:hidden" />
        </>
      )}
    </Link>
  );
}

interface FolderEntry {
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
function folderEntries(files: readonly WorkspaceVersion[], folder: string): FolderEntry[] {
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
function foundEntries(
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
