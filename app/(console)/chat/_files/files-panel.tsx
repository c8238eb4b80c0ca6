import { visibleName } from "@platform/kit/visible-name";
import { useEffect, useReducer, useRef, useState } from "react";
import type { listSandboxFilesContract } from "@/lib/sandbox/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { IconButton } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { formatBytes } from "../../_ui/format.ts";
import {
  ArrowLeft,
  CornerLeftUp,
  Download,
  FileText,
  Folder,
  FolderOpen,
  RefreshCw,
  X,
} from "../../_ui/icons.tsx";
import { download } from "../../_ui/save-file.ts";
import { Loaded, Loading, Skeletons } from "../../_ui/states.tsx";
import { FileViewer, splitPlace } from "../../_viewer/file-viewer.tsx";
import { FileName } from "../_message/file-type-icon.tsx";
import { sandboxFilePath } from "../_state/attachment.ts";

interface FilesPanelProps {
  readonly sessionId: string;
  /** The open file; null for the list of a folder. */
  readonly path: string | null;
  /** True while a turn runs, which may change files. */
  readonly isBusy: boolean;
  readonly onOpen: (path: string | null) => void;
  readonly onClose: () => void;
}

/** The files of the sandbox, next to the chat or over it on a phone. */
export function FilesPanel({ sessionId, path, isBusy, onOpen, onClose }: FilesPanelProps) {
  const [folder, setFolder] = useState("");
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-label="Files of this chat"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
      }}
      className={cn(
        "fixed inset-0 z-30 flex flex-col bg-background outline-none md:static md:z-auto md:w-88 md:shrink-0 md:border-l",
        path === null ? "lg:w-104" : "lg:w-1/2",
      )}
    >
      <header className="flex h-13 shrink-0 items-center justify-between border-b pr-2 pl-4">
        <h2 className="font-semibold">Files</h2>
        <IconButton icon={X} isLarge label="Close files" onClick={onClose} />
      </header>
      {path === null ? (
        <FolderView
          key={folder}
          {...{ sessionId, folder, isBusy }}
          onFolder={setFolder}
          onFile={onOpen}
        />
      ) : (
        <FileView key={path} {...{ sessionId, path, isBusy }} onBack={() => onOpen(null)} />
      )}
    </aside>
  );
}

interface FileViewProps extends Pick<FilesPanelProps, "sessionId" | "isBusy"> {
  /** May end with a place in the file, such as `#page=3`. */
  readonly path: string;
  readonly onBack: () => void;
}

function FileView({ sessionId, path, isBusy, onBack }: FileViewProps) {
  const [revision, reload] = useReducer((count: number) => count + 1, 0);
  useAfterTurn(isBusy, reload);
  const [file, place] = splitPlace(path);
  const address = sandboxFilePath(sessionId, file);
  const name = visibleName(file.split("/").at(-1) ?? file);
  return (
    <>
      <div className="flex h-10 shrink-0 items-center gap-1 border-b px-2 text-sm">
        <IconButton icon={ArrowLeft} label="Back to folder" onClick={onBack} />
        <code title={visibleName(file)} className="min-w-0 flex-1 truncate font-mono text-xs">
          {name}
        </code>
        <IconButton
          icon={Download}
          label="Download file"
          onClick={() => void download(address, name)}
        />
      </div>
      <FileViewer {...{ address, name, place, revision }} />
    </>
  );
}

interface FolderViewProps extends Pick<FilesPanelProps, "sessionId" | "isBusy"> {
  /** Empty for the home folder of the sandbox. */
  readonly folder: string;
  readonly onFolder: (path: string) => void;
  readonly onFile: (path: string) => void;
}

function FolderView({ sessionId, folder, isBusy, onFolder, onFile }: FolderViewProps) {
  const query = new URLSearchParams({ sessionId, ...(folder === "" ? {} : { path: folder }) });
  const files = useQuery<Answer<typeof listSandboxFilesContract>>(`/api/sandbox/files?${query}`);
  const { data, error, loading, reload } = files;
  useAfterTurn(isBusy, reload);

  if (error?.code === "sandbox_missing") {
    return <Note text="No files yet. They appear after the first message." />;
  }
  const parent = folder === "" ? null : (data?.path.replace(/\/[^/]*$/, "") ?? null);
  return (
    <>
      <div className="flex h-10 shrink-0 items-center gap-1 border-b pr-2 pl-4 text-sm">
        <code className="min-w-0 flex-1 truncate font-mono text-xs text-muted-foreground">
          {visibleName(data?.path ?? "")}
        </code>
        <IconButton
          icon={RefreshCw}
          label="Refresh"
          busy={loading && data !== undefined}
          onClick={reload}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto p-2">
        <Loaded query={files} loading={loadingFiles}>
          {({ entries, truncated }) => (
            <>
              {entries.length === 0 && folder === "" && (
                <Note text="No files yet. Files that the agent writes appear here." />
              )}
              <ul className="flex flex-col gap-px">
                {parent !== null && (
                  <li>
                    <button type="button" className={row} onClick={() => onFolder(parent)}>
                      <CornerLeftUp aria-hidden className={icon} />
                      Up
                    </button>
                  </li>
                )}
                {entries.map(({ name, path, type, size }) => {
                  const isFolder = type === "directory";
                  const Icon = isFolder ? Folder : FileText;
                  const open = isFolder ? onFolder : onFile;
                  return (
                    <li key={path}>
                      <button type="button" className={row} onClick={() => open(path)}>
                        <Icon
                          role="img"
                          aria-label={isFolder ? "Folder" : "File"}
                          className={icon}
                        />
                        <FileName className="min-w-0 flex-1 truncate" name={name} />
                        {type === "file" && (
                          <span className="shrink-0 text-xs text-muted-foreground">
                            {formatBytes(size)}
                          </span>
                        )}
                      </button>
                    </li>
                  );
                })}
              </ul>
              {truncated && <Note text="This folder has more files than are shown." />}
            </>
          )}
        </Loaded>
      </div>
    </>
  );
}

const loadingFiles = (
  <Loading label="Loading files…" className="flex flex-col gap-3 p-2">
    <Skeletons count={4} className="h-4 w-40" />
  </Loading>
);

const row = "flex h-8 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-hover";
const icon = "size-4 shrink-0 text-muted-foreground";

/** Calls `action` when a turn ends, because it may have changed files. */
function useAfterTurn(isBusy: boolean, action: () => void): void {
  const wasBusy = useRef(isBusy);
  useEffect(() => {
    if (wasBusy.current && !isBusy) action();
    wasBusy.current = isBusy;
  }, [isBusy, action]);
}

const Note = ({ text }: { readonly text: string }) => (
  <p className="flex flex-col items-center gap-2 px-6 py-10 text-center text-muted-foreground">
    <FolderOpen aria-hidden className="size-5" />
    {text}
  </p>
);
