"use client";
import { X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { IconButton } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { FileView } from "./file-view.tsx";
import { FolderView } from "./folder-view.tsx";

interface FilesPanelProps {
  readonly sessionId: string;
  readonly path: string | null;
  /** True while a turn runs, which may change files. */
  readonly isBusy: boolean;
  readonly onOpen: (path: string) => void;
  readonly onClose: () => void;
}

/** The files of the sandbox, next to the chat or over it on a phone. */
export function FilesPanel({ sessionId, path, isBusy, onOpen, onClose }: FilesPanelProps) {
  const [folder, setFolder] = useState("");
  const [file, setFile] = useState(path);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => setFile(path), [path]);
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
        file === null ? "lg:w-104" : "lg:w-1/2",
      )}
    >
      <header className="flex h-13 shrink-0 items-center justify-between border-b pr-2 pl-4">
        <h2 className="font-semibold">Files</h2>
        <IconButton icon={X} isLarge label="Close files" onClick={onClose} />
      </header>
      {file === null ? (
        <FolderView
          key={folder}
          sessionId={sessionId}
          folder={folder}
          isBusy={isBusy}
          onFolder={setFolder}
          onFile={(next) => {
            setFile(next);
            onOpen(next);
          }}
        />
      ) : (
        <FileView
          key={file}
          sessionId={sessionId}
          path={file}
          isBusy={isBusy}
          onBack={() => setFile(null)}
        />
      )}
    </aside>
  );
}
