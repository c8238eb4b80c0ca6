"use client";
import { useQuery } from "../_hooks/use-query.ts";
import { ErrorState, Loaded, Loading, LoadMore } from "../_ui/states.tsx";
import {
  type AlbumPage,
  artistAlbumsPath,
  byArtist,
  type CatalogAlbum,
  type CatalogSearch,
  type CatalogTrack,
  searchPath,
  useCatalogList,
} from "./catalog-query.ts";
import { AlbumGrid, AlbumSkeletons, TrackList } from "./lists.tsx";

const GROUPS = [
  ["album", "Albums"],
  ["single", "Singles and EPs"],
  ["compilation", "Compilations"],
  ["appears_on", "Appears on"],
] as const;

const groupOf = (album: CatalogAlbum) => album.album_group ?? album.album_type;
const albumsOf = (body: AlbumPage) => body;
const POPULAR_COUNT = 8;

/** The popular tracks and the albums of an artist of the catalog. */
export function Discography({ id, name }: { readonly id: string; readonly name: string }) {
  const list = useCatalogList(artistAlbumsPath(id), albumsOf);
  const albums = list.items ?? [];
  return (
    <div className="space-y-8">
      <PopularTracks id={id} name={name} />
      {list.items === undefined && list.error === null && <AlbumSkeletons />}
      {GROUPS.map(([group, title]) => {
        const shown = albums.filter((album) => groupOf(album) === group);
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
