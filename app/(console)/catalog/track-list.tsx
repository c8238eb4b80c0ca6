import Link from "next/link";
import { Badge } from "../_ui/badge.tsx";
import { Cover } from "../_ui/cover.tsx";
import { albumPage, type CatalogTrack } from "./catalog-query.ts";
import { Popularity } from "./popularity.tsx";

const lengthOf = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

/** Tracks, one a line: with the covers of their albums, or numbered as on their album. */
export function TrackList({
  tracks,
  label,
  numbered = false,
}: {
  readonly tracks: readonly CatalogTrack[];
  readonly label: string;
  readonly numbered?: boolean;
}) {
  return (
    <ol aria-label={label} className="divide-y overflow-hidden rounded-xl border bg-surface">
      {tracks.map((track) => (
        <li key={track.id} className="flex items-center gap-3 px-3 py-2">
          {numbered ? (
            <span className="w-6 shrink-0 text-right text-muted-foreground tabular-nums">
              {track.track_number}
            </span>
          ) : (
            <Cover
              seed={track.album.id}
              image={track.album.images[0]?.url}
              className="size-10 rounded"
            />
          )}
          <span className="min-w-0 flex-1">
            <span className="flex items-center gap-2">
              <span className="truncate font-medium">{track.name}</span>
              {track.explicit && <Badge>Explicit</Badge>}
            </span>
            <span className="block truncate text-sm text-muted-foreground">
              {track.artists.map(({ name }) => name).join(", ")}
              {!numbered && (
                <>
                  {" · "}
                  <Link href={albumPage(track.album)} prefetch={false} className="hover:underline">
                    {track.album.name}
                  </Link>
                </>
              )}
            </span>
          </span>
          <span className="hidden font-mono text-xs text-muted-foreground lg:block">
            {track.external_ids?.isrc}
          </span>
          <span className="hidden w-24 sm:block">
            {track.popularity !== undefined && <Popularity value={track.popularity} />}
          </span>
          <span className="w-10 shrink-0 text-right text-sm text-muted-foreground tabular-nums">
            {lengthOf(track.duration_ms)}
          </span>
        </li>
      ))}
    </ol>
  );
}
