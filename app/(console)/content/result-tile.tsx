import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import { useFrame } from "../_shell/frame.tsx";
import {
  type IconComponent,
  Image as ImageIcon,
  LoaderCircle,
  Play,
  TriangleAlert,
} from "../_ui/icons.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { Skeleton } from "../_ui/states.tsx";
import { stateOf, useTaskRunMedia } from "../runs/_state/task-run-state.ts";
import {
  type ContentMedia,
  isImageRun,
  mediaAddress,
  thumbnailAddress,
  titleOf,
} from "./content-result.ts";

export const tilesStyle = "grid grid-cols-[repeat(auto-fill,minmax(7.5rem,1fr))] gap-3";

/** A run as a thumbnail with its kind and its age or status, inside of a link or a button that may be pressed. */
export function ResultTile({ run }: { readonly run: TaskRun }) {
  const { tone, label, isActive } = stateOf(run.status);
  return (
    <>
      <span className="relative block aspect-square overflow-hidden rounded-lg border bg-muted in-aria-pressed:ring-2 in-aria-pressed:ring-accent-text">
        {tone === "success" ? (
          <Finished run={run} />
        ) : (
          <Mark
            icon={isActive ? LoaderCircle : TriangleAlert}
            className={isActive ? "size-5 animate-spin" : "size-5 text-danger-text"}
          />
        )}
      </span>
      <span className="mt-1 block truncate text-sm">{titleOf(run)}</span>
      <span className="block truncate text-xs text-muted-foreground">
        {tone === "success" ? <RelativeTime date={run.createdAt} /> : label}
      </span>
    </>
  );
}

function Finished({ run }: { readonly run: TaskRun }) {
  const media = useTaskRunMedia(run);
  if (media === undefined) return <Skeleton className="size-full rounded-none" />;
  const [first] = media;
  if (first === undefined) return <Mark icon={isImageRun(run) ? ImageIcon : Play} />;
  return (
    <>
      <MediaThumbnail media={first} />
      {media.length > 1 && (
        <span className="absolute top-1 right-1 rounded-full bg-black/65 px-1.5 text-xs text-white">
          {media.length}
        </span>
      )}
    </>
  );
}

/** Stands in the place of a picture. */
const Mark = ({ icon: Icon, className }: Readonly<{ icon: IconComponent; className?: string }>) => (
  <span className="grid size-full place-items-center bg-muted text-muted-foreground">
    <Icon aria-hidden className={className} />
  </span>
);

export function MediaThumbnail({ media }: { readonly media: ContentMedia }) {
  const address = mediaAddress(media.url, useFrame().mediaOrigin);
  if (address === null) return <Mark icon={media.kind === "image" ? ImageIcon : Play} />;
  if (media.kind === "image") {
    return (
      // biome-ignore lint/performance/noImgElement: the service makes the small version
      <img
        src={thumbnailAddress(address, 320)}
        alt=""
        loading="lazy"
        className="size-full object-cover"
      />
    );
  }
  return (
    <>
      {/* The first frame is black in many clips. */}
      <video
        src={`${address}#t=0.5`}
        aria-hidden
        tabIndex={-1}
        muted
        playsInline
        preload="metadata"
        className="pointer-events-none size-full object-cover"
      />
      <span className="absolute bottom-1 left-1 grid size-5 place-items-center rounded-full bg-black/65 text-white">
        <Play aria-hidden className="size-3 fill-current" />
      </span>
    </>
  );
}
