"use client";
import { ArrowLeft, Download } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { type ApiError, describeRefusal, fetchWithBearer } from "@/app/(console)/_hooks/api.ts";
import { Button } from "../../_ui/button.tsx";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { ErrorState } from "../../_ui/error-state.tsx";
import { Skeleton } from "../../_ui/skeleton.tsx";
import { ScrollBox } from "../_message/scroll-box.tsx";
import { useAfterTurn } from "./folder-view.tsx";
import { inBytes } from "./in-bytes.ts";

/** Characters that are shown; the whole file can be downloaded. */
const SHOWN = 300_000;
const IMAGES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

interface Content {
  /** Of the whole file, in this browser. */
  readonly address: string;
  readonly size: number;
  /** Null for what is not text. */
  readonly text: string | null;
  readonly isImage: boolean;
}

/** One file of the sandbox: text, an image, or what can only be downloaded. */
export function FileView({
  sessionId,
  path,
  isBusy,
  onBack,
}: {
  readonly sessionId: string;
  readonly path: string;
  readonly isBusy: boolean;
  readonly onBack: () => void;
}) {
  const [content, setContent] = useState<Content | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((one) => one + 1), []);
  useAfterTurn(isBusy, reload);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round reads again
  useEffect(() => {
    const ending = new AbortController();
    let address: string | null = null;
    readFile(sessionId, path, ending.signal).then(
      (result) => {
        if (ending.signal.aborted) return;
        setError("address" in result ? null : result);
        if (!("address" in result)) return;
        address = result.address;
        setContent(result);
      },
      () => {
        if (!ending.signal.aborted) setError(unreachable);
      },
    );
    return () => {
      ending.abort();
      if (address !== null) URL.revokeObjectURL(address);
    };
  }, [sessionId, path, round]);

  const name = path.split("/").at(-1) ?? path;
  return (
    <>
      <div className="flex h-10 shrink-0 items-center gap-1 border-b px-2 text-sm">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Back to the folder"
          className="size-7"
          onClick={onBack}
        >
          <ArrowLeft aria-hidden />
        </Button>
        <code title={path} className="min-w-0 flex-1 truncate font-mono text-xs">
          {name}
        </code>
        {content && (
          <span className="shrink-0 px-1 text-xs text-muted-foreground">
            {inBytes(content.size)}
          </span>
        )}
        {content?.text != null && (
          <CopyButton
            text={content.text}
            label="Copy the file's text"
            variant="ghost"
            className="size-7"
          />
        )}
        {content && (
          <a
            href={content.address}
            download={name}
            aria-label="Download the file"
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
        <div aria-busy="true" className="flex flex-col gap-3 p-4">
          <p className="sr-only">Loading the file</p>
          <Skeleton className="h-4 w-52" />
          <Skeleton className="h-4 w-40" />
        </div>
      )}
      {!error && content && <Shown content={content} name={name} />}
    </>
  );
}

function Shown({ content, name }: { readonly content: Content; readonly name: string }) {
  if (content.isImage) {
    return (
      <div className="min-h-0 flex-1 overflow-auto p-4">
        {/* biome-ignore lint/performance/noImgElement: it is in this browser already */}
        <img src={content.address} alt={name} className="mx-auto max-w-full rounded-lg border" />
      </div>
    );
  }
  if (content.text === null || content.text === "") {
    return (
      <p className="px-6 py-10 text-center text-muted-foreground">
        {content.text === "" ? "The file is empty." : "This is not text: download it to see it."}
      </p>
    );
  }
  return (
    <ScrollBox label={`Content of ${name}`} className="min-h-0 flex-1 overflow-auto">
      <pre className="w-fit min-w-full p-4 font-mono text-xs leading-relaxed whitespace-pre">
        {content.text.slice(0, SHOWN)}
      </pre>
      {content.text.length > SHOWN && (
        <p className="border-t px-4 py-2 text-sm text-muted-foreground">
          Only the beginning is shown. Download the file for the rest.
        </p>
      )}
    </ScrollBox>
  );
}

async function readFile(
  sessionId: string,
  path: string,
  signal: AbortSignal,
): Promise<Content | ApiError> {
  const query = new URLSearchParams({ sessionId, path });
  const response = await fetchWithBearer(`/api/sandbox/files/content?${query}`, { signal });
  if (!response.ok) return describeRefusal(response, await response.text());
  const bytes = await response.blob();
  const type = IMAGES[path.split(".").at(-1)?.toLowerCase() ?? ""];
  const isText = response.headers.get("content-type")?.startsWith("text/") === true;
  // As a download or an image, never as a page: an agent wrote it.
  const kept = new Blob([bytes], { type: type ?? "application/octet-stream" });
  return {
    address: URL.createObjectURL(kept),
    size: bytes.size,
    text: isText ? await bytes.text() : null,
    isImage: type !== undefined && !isText,
  };
}

const unreachable: ApiError = {
  status: 0,
  code: "network",
  message: "The service cannot be reached. Check your connection and try again.",
  fields: [],
  requestId: null,
};
