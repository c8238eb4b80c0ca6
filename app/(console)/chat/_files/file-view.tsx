"use client";
import { ArrowLeft, Download } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { type ApiError, fetchWithBearer, networkError, toApiError } from "../../_api/request.ts";
import { CodeLines } from "../../_code/code-lines.tsx";
import { languageOfPath } from "../../_code/languages.ts";
import { useHighlightedLines } from "../../_code/use-highlighted-lines.ts";
import { IconButton } from "../../_ui/button.tsx";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { formatBytes } from "../../_ui/format.ts";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { ErrorState, Loading, Skeleton } from "../../_ui/states.tsx";
import { sandboxFilePath } from "../_state/attachment.ts";
import { useAfterTurn } from "./folder-view.tsx";

/** The number of characters shown; the whole file can be downloaded. */
const MAX_SHOWN_LENGTH = 300_000;
const IMAGES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

interface Content {
  readonly objectUrl: string;
  readonly size: number;
  /** Null if the file is not text. */
  readonly text: string | null;
  readonly isImage: boolean;
}

interface FileViewProps {
  readonly sessionId: string;
  readonly path: string;
  readonly isBusy: boolean;
  readonly onBack: () => void;
}

/** Shows one file of the sandbox: its text, its image, or only a way to download it. */
export function FileView({ sessionId, path, isBusy, onBack }: FileViewProps) {
  const [{ content, error }, setFile] = useState<{ content?: Content; error?: ApiError }>({});
  const [revision, setRevision] = useState(0);
  const reload = useCallback(() => setRevision((current) => current + 1), []);
  useAfterTurn(isBusy, reload);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision reads the file again
  useEffect(() => {
    const controller = new AbortController();
    const reading = readFile(sessionId, path, controller.signal);
    void reading.then((file) => controller.signal.aborted || setFile(file));
    return () => {
      controller.abort();
      void reading.then(({ content: read }) => read && URL.revokeObjectURL(read.objectUrl));
    };
  }, [sessionId, path, revision]);

  const name = path.split("/").at(-1) ?? path;
  return (
    <>
      <div className="flex h-10 shrink-0 items-center gap-1 border-b px-2 text-sm">
        <IconButton icon={ArrowLeft} label="Back to folder" onClick={onBack} />
        <code title={path} className="min-w-0 flex-1 truncate font-mono text-xs">
          {name}
        </code>
        {content && (
          <span className="shrink-0 px-1 text-xs text-muted-foreground">
            {formatBytes(content.size)}
          </span>
        )}
        {content?.text != null && (
          <CopyButton text={content.text} label="Copy text" variant="ghost" className="size-7" />
        )}
        {content && (
          <a
            href={content.objectUrl}
            download={name}
            aria-label="Download file"
            title="Download"
            className="grid size-7 place-items-center rounded-md hover:bg-hover"
          >
            <Download aria-hidden className="size-4" />
          </a>
        )}
      </div>
      {error && (
        <div className="p-4">
          <ErrorState error={error} onRetry={reload} />
        </div>
      )}
      {!error && !content && (
        <Loading label="Loading file…" className="flex flex-col gap-3 p-4">
          <Skeleton className="h-4 w-52" />
          <Skeleton className="h-4 w-40" />
        </Loading>
      )}
      {!error && content && <Preview content={content} name={name} />}
    </>
  );
}

function Preview({ content, name }: { readonly content: Content; readonly name: string }) {
  const shown = (content.text ?? "").slice(0, MAX_SHOWN_LENGTH);
  const lines = useHighlightedLines(shown, languageOfPath(name), false);
  if (content.isImage) {
    return (
      <div className="min-h-0 flex-1 rounded-none p-4">
        {/* biome-ignore lint/performance/noImgElement: it is an object URL */}
        <img src={content.objectUrl} alt={name} className="mx-auto max-w-full rounded-lg border" />
      </div>
    );
  }
  if (content.text === null || content.text === "") {
    return (
      <p className="px-6 py-10 text-center text-muted-foreground">
        {content.text === ""
          ? "This file is empty."
          : "This file cannot be previewed. Download it to open it."}
      </p>
    );
  }
  return (
    <ScrollBox label={`Content of ${name}`} className="min-h-0 flex-1 rounded-none">
      <pre className="w-fit min-w-full p-4 font-mono text-xs leading-relaxed whitespace-pre">
        <CodeLines text={shown} lines={lines} />
      </pre>
      {content.text.length > MAX_SHOWN_LENGTH && (
        <p className="border-t px-4 py-2 text-sm text-muted-foreground">
          Only the beginning is shown. Download the file to see the rest.
        </p>
      )}
    </ScrollBox>
  );
}

async function readFile(
  sessionId: string,
  path: string,
  signal: AbortSignal,
): Promise<{ content?: Content; error?: ApiError }> {
  try {
    const response = await fetchWithBearer(sandboxFilePath(sessionId, path), { signal });
    if (!response.ok) return { error: await toApiError(response) };
    const bytes = await response.blob();
    const type = IMAGES[path.split(".").at(-1)?.toLowerCase() ?? ""];
    const isText = response.headers.get("content-type")?.startsWith("text/") === true;
    // Never an HTML type: the agent wrote the file, and it must not run as a page of this origin.
    const blob = new Blob([bytes], { type: type ?? "application/octet-stream" });
    const objectUrl = URL.createObjectURL(blob);
    const text = isText ? await bytes.text() : null;
    return { content: { objectUrl, size: bytes.size, text, isImage: !!type && !isText } };
  } catch {
    return { error: networkError };
  }
}
