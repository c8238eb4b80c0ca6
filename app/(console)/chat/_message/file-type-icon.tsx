import {
  FileArchive,
  FileAudio,
  FileImage,
  FileSpreadsheet,
  FileText,
  FileVideo,
} from "lucide-react";

/** A tile that tells the kind of a file, in the size of a thumbnail. */
export function FileTypeIcon({ name, mediaType }: Readonly<{ name: string; mediaType: string }>) {
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
