import { useFrame } from "../_shell/frame.tsx";
import { type ContentMedia, mediaAddress } from "../content/content-result.ts";
import { cn } from "./class-names.ts";
import { ExternalLink } from "./icons.tsx";

type MediaViewProps = Readonly<{ media: ContentMedia; label: string; className?: string }>;

/** A generated video with controls, or an image. It keeps its size while it loads. */
export function MediaView({ media, label, className }: MediaViewProps) {
  const address = mediaAddress(media.url, useFrame().mediaOrigin);
  const style = cn("aspect-video w-full rounded-lg", className);
  if (address === null) {
    return (
      <div className={cn(style, "grid place-items-center bg-muted p-4")}>
        <a
          href={media.url}
          target="_blank"
          rel="noreferrer"
          className="flex max-w-full items-center gap-2 text-accent-text hover:underline"
        >
          <ExternalLink aria-hidden className="size-4 shrink-0" />
          <span className="truncate">{new URL(media.url).host}</span>
        </a>
      </div>
    );
  }
  return media.kind === "video" ? (
    // biome-ignore lint/a11y/useMediaCaption: generated clips come without captions
    <video
      src={address}
      aria-label={label}
      controls
      playsInline
      preload="metadata"
      className={cn(style, "bg-black object-contain")}
    />
  ) : (
    // biome-ignore lint/performance/noImgElement: an optimizer would change the generated image
    <img src={address} alt={label} className={cn(style, "bg-muted object-contain")} />
  );
}
