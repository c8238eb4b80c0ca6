import Link from "next/link";
import { Badge } from "../_ui/badge.tsx";
import { Cover } from "../_ui/cover.tsx";
import { Loading, Skeletons } from "../_ui/states.tsx";
import { albumPage, type CatalogAlbum, type CatalogTrack } from "./catalog-query.ts";

const kinds = { album: "Album", single: "Single", compilation: "Compilation" } as const;

const gridStyle = "grid grid-cols-2 gap-x-4 gap-y-5 sm:grid-cols-4 lg:grid-cols-5";

interface AlbumGridProps {
  readonly albums: readonly CatalogAlbum[];
  readonly withArtists?: boolean;
}

/** Albums as covers that lead to their tracks. */
export function AlbumGrid({ albums, withArtists = false }: AlbumGridProps) {
  return (
    <ul className={gridStyle}>
      {albums.map((album) => (
        <li key={album.id} className="min-w-0">
          <Link href={albumPage(album)} prefetch={false} className="group block rounded-md">
            <Cover
              seed={album.id}
              image={album.images[0]?.url}
              className="w-full rounded-lg shadow-sm transition-transform group-hover:scale-[1.02]"
            />
            <span className="mt-2 line-clamp-2 font-medium break-words group-hover:underline">
              {album.name}
            </span>
            <span className="block truncate text-sm text-muted-foreground">
              {withArtists
                ? namesOf(album)
                : `${album.release_date.slice(0, 4)} · ${kinds[album.album_type]}`}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export const AlbumSkeletons = () => (
  <Loading label="Loading albums…" className={gridStyle}>
    <Skeletons count={5} className="aspect-square rounded-lg" />
  </Loading>
);

/** How much something is listened to now, 0 to 100, as a small bar. */
export function Popularity({ value }: { readonly value: number }) {
  return (
    <span
      role="img"
      aria-label={`Popularity ${value} of 100`}
      title={`Popularity ${value} of 100`}
      className="flex items-center gap-2 text-xs text-muted-foreground tabular-nums"
    >
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" className="h-1 w-16">
        <rect width="100" height="6" rx="3" className="fill-input" />
        <rect width={Math.max(4, value)} height="6" rx="3" className="fill-muted-foreground" />
      </svg>
      {value}
    </span>
  );
}

const lengthOf = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

interface TrackListProps {
  readonly tracks: readonly CatalogTrack[];
  readonly label: string;
  readonly album?: CatalogAlbum;
}

const namesOf = ({ artists }: Pick<CatalogAlbum, "artists">): string =>
  artists.map(({ name }) => name).join(", ");

/** Tracks, one a line: with the covers of their albums, or numbered as on the one album. */
export function TrackList({ tracks, label, album }: TrackListProps) {
  return (
    <ol aria-label={label} className="divide-y overflow-hidden rounded-xl border bg-surface">
      {tracks.map((track) => (
        <li key={track.id} className="flex items-center gap-3 px-3 py-2">
          {album ? (
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
              {namesOf(track) !== (album && namesOf(album)) && namesOf(track)}
              {!album && (
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
