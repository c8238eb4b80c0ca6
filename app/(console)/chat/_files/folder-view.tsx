"use client";
import { CornerLeftUp, FileText, Folder, FolderOpen, RefreshCw } from "lucide-react";
import { useEffect, useRef } from "react";
import type { listSandboxFilesContract } from "@/lib/sandbox/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { IconButton } from "../../_ui/button.tsx";
import { formatBytes } from "../../_ui/format.ts";
import { ErrorState, Loading, Skeletons } from "../../_ui/states.tsx";

interface FolderViewProps {
  readonly sessionId: string;
  /** Empty for the home folder of the sandbox. */
  readonly folder: string;
  readonly isBusy: boolean;
  readonly onFolder: (path: string) => void;
  readonly onFile: (path: string) => void;
}

/** Lists one folder of the sandbox. */
export function FolderView({ sessionId, folder, isBusy, onFolder, onFile }: FolderViewProps) {
  const query = new URLSearchParams({ sessionId, ...(folder === "" ? {} : { path: folder }) });
  const { data, error, loading, reload } = useQuery<Answer<typeof listSandboxFilesContract>>(
    `/api/sandbox/files?${query}`,
  );
  useAfterTurn(isBusy, reload);

  if (error?.code === "sandbox_missing") {
    return <Note text="No files yet. They appear after the first message." />;
  }
  if (error) {
    return (
      <div className="p-4">
        <ErrorState error={error} onRetry={reload} />
      </div>
    );
  }
  const parent = folder === "" ? null : (data?.path.replace(/\/[^/]*$/, "") ?? null);
  return (
    <>
      <div className="flex h-10 shrink-0 items-center gap-1 border-b pr-2 pl-4 text-sm">
        <code className="min-w-0 flex-1 truncate font-mono text-xs text-muted-foreground">
          {data?.path ?? ""}
        </code>
        <IconButton
          icon={RefreshCw}
          label="Refresh"
          busy={loading && data !== undefined}
          onClick={reload}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto p-2">
        {data === undefined && (
          <Loading label="Loading files…" className="flex flex-col gap-3 p-2">
            <Skeletons count={4} className="h-4 w-40" />
          </Loading>
        )}
        {data?.entries.length === 0 && folder === "" && (
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
          {data?.entries.map(({ name, path, type, size }) => {
            const isFolder = type === "directory";
            const Icon = isFolder ? Folder : FileText;
            const open = isFolder ? onFolder : onFile;
            return (
              <li key={path}>
                <button type="button" className={row} onClick={() => open(path)}>
                  <Icon role="img" aria-label={isFolder ? "Folder" : "File"} className={icon} />
                  <span className="min-w-0 flex-1 truncate">{name}</span>
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
        {data?.truncated && <Note text="This folder has more files than are shown." />}
      </div>
    </>
  );
}

const row = "flex h-8 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-hover";
const icon = "size-4 shrink-0 text-muted-foreground";

/** Calls `action` when a turn ends, because it may have changed files. */
export function useAfterTurn(isBusy: boolean, action: () => void): void {
  const wasBusy = useRef(isBusy);
  useEffect(() => {
    if (wasBusy.current && !isBusy) action();
    wasBusy.current = isBusy;
  }, [isBusy, action]);
}

function Note({ text }: { readonly text: string }) {
  return (
    <p className="flex flex-col items-center gap-2 px-6 py-10 text-center text-muted-foreground">
      <FolderOpen aria-hidden className="size-5" />
      {text}
    </p>
  );
}
