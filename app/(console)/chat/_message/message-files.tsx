import { visibleName } from "@platform/kit/visible-name";
import type { FileUIPart } from "ai";
import { useContext, useEffect, useState } from "react";
import { loadImage } from "../../_api/request.ts";
import { keyed } from "../../_ui/keyed.ts";
import { isPreviewable, sandboxFilePath } from "../_state/attachment.ts";
import { previewOf } from "../_state/attachments.ts";
import { SandboxFilesContext } from "../_tools/file-link.tsx";
import { FileName, FileTypeIcon } from "./file-type-icon.tsx";

const SANDBOX_URL = /^sandbox:\/home\/agent\//i;

/** The files of a message: images as thumbnails, others as tiles that open beside the chat. */
export function MessageFiles({ files }: { readonly files: readonly FileUIPart[] }) {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="flex max-w-[85%] flex-wrap justify-end gap-2">
      {keyed(files).map(({ key, item }) => (
        <li key={key} className="min-w-0">
          <MessageFile file={item} />
        </li>
      ))}
    </ul>
  );
}

function MessageFile({ file }: { readonly file: FileUIPart }) {
  const open = useContext(SandboxFilesContext)?.open;
  const path = SANDBOX_URL.test(file.url) ? file.url.replace(SANDBOX_URL, "") : null;
  const name = visibleName(file.filename || path?.split("/").at(-1) || "File");
  const isImage = isPreviewable(file.mediaType);
  const thumbnail = useThumbnail(isImage ? file.url : null, path, file.mediaType);
  const content =
    thumbnail === null ? (
      <span className="flex w-56 max-w-full items-center gap-2.5 rounded-xl border bg-surface p-1.5 pr-3 text-left">
        <FileTypeIcon name={name} mediaType={file.mediaType} />
        <FileName className="min-w-0 flex-1 truncate text-sm font-medium" name={name} />
      </span>
    ) : (
      // biome-ignore lint/performance/noImgElement: it is an object URL
      <img
        src={thumbnail}
        alt={name}
        className="max-h-44 min-h-12 max-w-56 min-w-12 rounded-xl border bg-surface object-cover"
      />
    );
  if (!open || path === null) return content;
  return (
    <button
      type="button"
      title={`Open ${name}`}
      onClick={() => open(path)}
      className="block max-w-full rounded-xl transition-opacity hover:opacity-85"
    >
      {content}
    </button>
  );
}

/** Returns a URL for an `img`; null until the file was read, and if it cannot be. */
function useThumbnail(url: string | null, path: string | null, mediaType: string): string | null {
  const sessionId = useContext(SandboxFilesContext)?.sessionId;
  const [objectUrl, setObjectUrl] = useState<string | null>(null);
  useEffect(() => {
    if (url === null || path === null || sessionId === undefined || previewOf(url)) return;
    const left = new AbortController();
    const loading = loadImage(sandboxFilePath(sessionId, path), mediaType, left.signal);
    void loading.then((read) => left.signal.aborted || setObjectUrl(read));
    return () => {
      left.abort();
      void loading.then((read) => read !== null && URL.revokeObjectURL(read));
    };
  }, [url, path, mediaType, sessionId]);
  if (url === null) return null;
  return url.startsWith("data:") ? url : (previewOf(url) ?? objectUrl);
}
