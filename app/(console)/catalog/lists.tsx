import type { listArtistAlbumsContract, searchCatalogContract } from "@/lib/catalog/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useInfinitePages } from "../_hooks/use-pages.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Badge } from "../_ui/badge.tsx";
import { Cover } from "../_ui/cover.tsx";
import { Link } from "../_ui/link.tsx";
import { ErrorState, Loaded, Loading, LoadMore, Skeletons } from "../_ui/states.tsx";

type CatalogCoverProps = Readonly<{ of: Pick<CatalogAlbum, "id" | "images">; className: string }>;

export const CatalogCover = ({ of: { id, images }, className }: CatalogCoverProps) => (
  <Cover seed={id} image={images[0]?.url} className={className} />
);

/** An artist of the catalog in a row: the picture, the name, the genres and the popularity. */
export const ArtistLine = ({ artist }: { readonly artist: CatalogArtist }) => (
  <>
    <CatalogCover of={artist} className="size-12 rounded-full" />
    <span className="min-w-0">
      <span className="block truncate font-medium">{artist.name}</span>
      <span className="block truncate text-sm text-muted-foreground">
        {artist.genres?.join(", ")}
      </span>
      {artist.popularity !== undefined && <Popularity value={artist.popularity} />}
    </span>
  </>
);

const kinds = { album: "Album", single: "Single", compilation: "Compilation" } as const;

const gridStyle = "grid grid-cols-2 gap-x-4 gap-y-5 sm:grid-cols-4 lg:grid-cols-5";

type AlbumGridProps = Readonly<{ albums: readonly CatalogAlbum[]; withArtists?: boolean }>;

/** Albums as covers that lead to their tracks. */
export const AlbumGrid = ({ albums, withArtists = false }: AlbumGridProps) => (
  <ul className={gridStyle}>
    {albums.map((album) => (
      <li key={album.id} className="min-w-0">
        <Link href={albumPage(album)} className="group block rounded-md">
          <CatalogCover
            of={album}
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

export const AlbumSkeletons = () => (
  <Loading label="Loading albums…" className={gridStyle}>
    <Skeletons count={5} className="aspect-square rounded-lg" />
  </Loading>
);

/** How much something is listened to now, 0 to 100, as a small bar. */
export const Popularity = ({ value }: { readonly value: number }) => (
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
export const TrackList = ({ tracks, label, album }: TrackListProps) => (
  <ol aria-label={label} className="divide-y overflow-hidden rounded-xl border bg-surface">
    {tracks.map((track) => (
      <li key={track.id} className="flex items-center gap-3 px-3 py-2">
        {album ? (
          <span className="w-6 shrink-0 text-right text-muted-foreground tabular-nums">
            {track.track_number}
          </span>
        ) : (
          <CatalogCover of={track.album} className="size-10 rounded" />
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
                <Link href={albumPage(track.album)} className="hover:underline">
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

const GROUPS = [
  ["album", "Albums"],
  ["single", "Singles and EPs"],
  ["compilation", "Compilations"],
  ["appears_on", "Appears on"],
] as const;

const POPULAR_COUNT = 8;

/** The popular tracks and the albums of an artist of the catalog. */
export function Discography({ id, name }: { readonly id: string; readonly name: string }) {
  const list = useCatalogList(artistAlbumsPath(id), (body: AlbumPage) => body);
  const albums = list.items ?? [];
  return (
    <div className="space-y-8">
      <PopularTracks id={id} name={name} />
      {list.items === undefined && list.error === null && <AlbumSkeletons />}
      {GROUPS.map(([group, title]) => {
        const shown = albums.filter((one) => (one.album_group ?? one.album_type) === group);
        return (
          shown.length > 0 && (
            <section key={group} aria-label={title}>
              <h2 className="mb-3 font-semibold">{title}</h2>
              <AlbumGrid albums={shown} />
            </section>
          )
        );
      })}
      {list.items?.length === 0 && (
        <p className="text-muted-foreground">The catalog lists no albums of this artist.</p>
      )}
      {list.error !== null && <ErrorState error={list.error} onRetry={list.loadMore} />}
      {list.error === null && <LoadMore pages={list} items="albums" />}
    </div>
  );
}

function PopularTracks({ id, name }: { readonly id: string; readonly name: string }) {
  const query = useQuery<CatalogSearch>(searchPath(byArtist(name), ["track"], 50));
  const tracks = mostPopular(query.data?.tracks?.items ?? [], id);
  return (
    <Loaded query={query} loading={<Loading label="Loading tracks…" className="h-64 rounded-xl" />}>
      {() =>
        tracks.length > 0 && (
          <section aria-label="Popular tracks">
            <h2 className="mb-3 font-semibold">Popular tracks</h2>
            <TrackList label="Popular tracks" tracks={tracks} />
          </section>
        )
      }
    </Loaded>
  );
}

/** Another artist may have the same name. */
const mostPopular = (tracks: readonly CatalogTrack[], artistId: string): CatalogTrack[] =>
  tracks
    .filter(({ artists }) => artists.some((one) => one.id === artistId))
    .toSorted((one, other) => (other.popularity ?? 0) - (one.popularity ?? 0))
    .slice(0, POPULAR_COUNT);

const named = (path: string, query: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(query)}`;

/** A filter's value. Quotes cannot be escaped in it. */
const quoted = (text: string): string => `"${text.replaceAll('"', " ").slice(0, 100)}"`;

export const searchPath = (q: string, types: readonly string[], limit: number): string =>
  named("/api/catalog/search", { q, type: types.join(","), limit: String(limit) });

export const artistAlbumsPath = (id: string): string =>
  named("/api/catalog/artist/albums", { id, limit: "50" });

export const byArtist = (name: string): string => `artist:${quoted(name)}`;

/** Finds the tracks of an album, and possibly tracks of other albums with the same name. */
export const ofAlbum = (name: string, artist: string): string =>
  [`album:${quoted(name)}`, ...(artist === "" ? [] : [byArtist(artist)])].join(" ");

export const artistPage = ({ id, name }: Pick<CatalogArtist, "id" | "name">): string =>
  named(`/catalog/artists/${id}`, { name });

/** The catalog has no endpoint for one album, so its page searches by name and artist. */
const albumPage = ({ id, name, artists }: CatalogAlbum): string =>
  named(`/catalog/albums/${id}`, { name, artist: artists[0]?.name ?? "" });

export type CatalogSearch = Answer<typeof searchCatalogContract>;
export type AlbumPage = Answer<typeof listArtistAlbumsContract>;
export type CatalogArtist = NonNullable<CatalogSearch["artists"]>["items"][number];
export type CatalogAlbum = AlbumPage["items"][number];
type CatalogTrack = NonNullable<CatalogSearch["tracks"]>["items"][number];

type Part<T> = Readonly<{ items: readonly T[]; total: number; offset: number; limit: number }>;

/**
 * Reads a list of the catalog, whose pages go by offset. `path` has a query.
 * @param pick returns the list of a response
 */
export function useCatalogList<B, T>(path: string, pick: (body: B) => Part<T> | undefined) {
  const pages = useInfinitePages<B, T>(path, {
    addressOf: (offset) => `${path}&offset=${offset ?? 0}`,
    itemsIn: (body) => pick(body)?.items ?? [],
    nextOf: (body) => {
      const { offset, limit, total } = pick(body) ?? { offset: 0, limit: 0, total: 0 };
      return offset + limit < total ? String(offset + limit) : null;
    },
  });
  const last = pages.bodies.at(-1);
  return { ...pages, total: (last && pick(last)?.total) ?? 0 };
}
