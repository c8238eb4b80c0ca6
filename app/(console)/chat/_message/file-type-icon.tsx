import { visibleName } from "@platform/kit/visible-name";
import { formatBytes } from "../../_ui/format.ts";
import {
  FileArchive,
  FileAudio,
  FileImage,
  FileSpreadsheet,
  FileText,
  FileVideo,
} from "../../_ui/icons.tsx";

/**
 * A file name that may imitate another one: invisible characters are escaped, and its text
 * direction is isolated.
 */
export const FileName = ({ name, className }: Readonly<{ name: string; className?: string }>) => (
  <bdi className={className}>{visibleName(name)}</bdi>
);

/** A file by its kind, name and size, side by side in a flex container. */
export const FileLabel = ({ name, size }: Readonly<{ name: string; size: number }>) => (
  <>
    <FileTypeIcon name={name} />
    <span className="min-w-0 flex-1">
      <FileName className="block truncate text-sm font-medium" name={name} />
      <span className="block text-xs text-muted-foreground">{formatBytes(size)}</span>
    </span>
  </>
);

interface FileTypeIconProps {
  readonly name: string;
  /** Empty where it is not known. */
  readonly mediaType?: string;
}

/** A tile with an icon for the type of a file, in the size of a thumbnail. */
export function FileTypeIcon({ name, mediaType = "" }: FileTypeIconProps) {
  const Icon = iconOf(name.toLowerCase(), mediaType);
  return (
    <span className="grid size-10 shrink-0 place-items-center rounded-lg bg-accent-soft text-accent-text">
      <Icon aria-hidden className="size-5" />
    </span>
  );
}

function iconOf(name: string, mediaType: string) {
  if (/\.(csv|tsv|xlsx?|numbers|ods)$/.test(name)) return FileSpreadsheet;
  if (/\.(zip|gz|tar|7z|rar)$/.test(name)) return FileArchive;
  if (mediaType.startsWith("audio/")) return FileAudio;
  if (mediaType.startsWith("video/")) return FileVideo;
  if (mediaType.startsWith("image/") || /\.(png|jpe?g|gif|webp|svg)$/.test(name)) return FileImage;
  return FileText;
}
