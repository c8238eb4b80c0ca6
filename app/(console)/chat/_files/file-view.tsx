"use client";
import { ArrowLeft, Download } from "lucide-react";
import { useReducer } from "react";
import { IconButton } from "../../_ui/button.tsx";
import { download } from "../../_ui/save-file.ts";
import { FileViewer, splitPlace } from "../../_viewer/file-viewer.tsx";
import { sandboxFilePath } from "../_state/attachment.ts";
import { useAfterTurn } from "./folder-view.tsx";

interface FileViewProps {
  readonly sessionId: string;
  /** May end with a place in the file, such as `#page=3`. */
  readonly path: string;
  readonly isBusy: boolean;
  readonly onBack: () => void;
}

/** Shows one file of the chat. */
export function FileView({ sessionId, path, isBusy, onBack }: FileViewProps) {
  const [revision, reload] = useReducer((count: number) => count + 1, 0);
  useAfterTurn(isBusy, reload);
  const [file, place] = splitPlace(path);
  const address = sandboxFilePath(sessionId, file);
  const name = file.split("/").at(-1) ?? file;
  return (
    <>
      <div className="flex h-10 shrink-0 items-center gap-1 border-b px-2 text-sm">
        <IconButton icon={ArrowLeft} label="Back to folder" onClick={onBack} />
        <code title={file} className="min-w-0 flex-1 truncate font-mono text-xs">
          {name}
        </code>
        <IconButton
          icon={Download}
          label="Download file"
          onClick={() => void download(address, name)}
        />
      </div>
      <FileViewer address={address} name={name} place={place} revision={revision} />
    </>
  );
}
