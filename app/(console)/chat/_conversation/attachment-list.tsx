import { RotateCw, X } from "lucide-react";
import { IconButton } from "../../_ui/button.tsx";
import { formatBytes } from "../../_ui/format.ts";
import { FileTypeIcon } from "../_message/file-type-icon.tsx";
import type { Attachment } from "../_state/attachment.ts";
import type { Attachments } from "../_state/attachments.ts";

type AttachmentListProps = Readonly<{ attachments: Attachments; files: readonly Attachment[] }>;

/** The attached files, each with its progress and a button to remove it. */
export function AttachmentList({ attachments, files }: AttachmentListProps) {
  return (
    <ul
      aria-label="Attachments"
      className="flex max-h-44 flex-wrap gap-2 overflow-y-auto px-3 pt-3"
    >
      {files.map((file) => (
        <AttachmentChip key={file.id} {...{ attachments, file }} />
      ))}
    </ul>
  );
}

type AttachmentChipProps = Readonly<{ attachments: Attachments; file: Attachment }>;

function AttachmentChip({ attachments, file }: AttachmentChipProps) {
  const { id, name, size, mediaType, previewUrl, state } = file;
  const isFailed = state.kind === "failed";
  return (
    <li
      className={`relative flex w-60 max-w-full items-center gap-2.5 overflow-hidden rounded-xl border p-1.5 ${isFailed ? "border-danger-text/40 bg-danger-soft" : "bg-background"}`}
    >
      {previewUrl === null ? (
        <FileTypeIcon name={name} mediaType={mediaType} />
      ) : (
        // biome-ignore lint/performance/noImgElement: it is an object URL
        <img src={previewUrl} alt="" className="size-10 shrink-0 rounded-lg object-cover" />
      )}
      <span className="min-w-0 flex-1 text-sm leading-tight">
        <span title={name} className="block truncate font-medium">
          {name}
        </span>
        <span
          className={`block text-xs ${isFailed ? "text-danger-text" : "truncate text-muted-foreground"}`}
        >
          {describe(state, size)}
        </span>
      </span>
      {isFailed && state.canRetry && (
        <IconButton
          icon={RotateCw}
          className="size-6"
          label={`Retry ${name}`}
          onClick={() => attachments.retry(id)}
        />
      )}
      <IconButton
        icon={X}
        className="size-6"
        label={`Remove ${name}`}
        onClick={() => attachments.remove(id)}
      />
      {state.kind === "uploading" && (
        <progress
          aria-label={`Uploading ${name}`}
          max={100}
          value={percent(state.sentBytes, size)}
          className="absolute inset-x-0 bottom-0 h-0.5 w-full appearance-none bg-muted [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-muted [&::-webkit-progress-value]:bg-accent [&::-webkit-progress-value]:transition-[width]"
        />
      )}
    </li>
  );
}

function describe(state: Attachment["state"], size: number | null): string {
  if (state.kind === "failed") return state.text;
  if (size === null) return "Uploaded";
  if (state.kind === "ready") return formatBytes(size);
  return state.sentBytes === 0
    ? `${formatBytes(size)} · Waiting…`
    : `${formatBytes(size)} · ${percent(state.sentBytes, size)}%`;
}

const percent = (sentBytes: number, size: number | null): number =>
  size === null || size === 0 ? 0 : Math.min(100, Math.round((100 * sentBytes) / size));
