"use client";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { artistAlbumsPath, byArtist, searchPath } from "@/app/(console)/catalog/catalog-query.ts";
import type {
  AlbumPage,
  CatalogAlbum,
  CatalogSearch,
  CatalogTrack,
} from "@/app/(console)/catalog/catalog-types.ts";
import { useCatalogList } from "@/app/(console)/catalog/use-catalog-list.ts";
import { Button } from "../_ui/button.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { AlbumGrid, AlbumSkeletons } from "./album-grid.tsx";
import { TrackList } from "./track-list.tsx";

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
      {list.hasMore && list.error === null && (
        <Button variant="outline" busy={list.loading} onClick={list.loadMore}>
          Load more albums
        </Button>
      )}
    </div>
  );
}

function PopularTracks({ id, name }: { readonly id: string; readonly name: string }) {
  const { data, error, reload } = useQuery<CatalogSearch>(
    searchPath(byArtist(name), ["track"], 50),
  );
  if (error !== null) return <ErrorState error={error} onRetry={reload} />;
  if (data === undefined) {
    return (
      <div aria-busy="true">
        <p className="sr-only">Loading tracks…</p>
        <Skeleton className="h-64 rounded-xl" />
      </div>
    );
  }
  const tracks = mostPopular(data.tracks?.items ?? [], id);
  return (
    tracks.length > 0 && (
      <section aria-label="Popular tracks">
        <h2 className="mb-3 font-semibold">Popular tracks</h2>
        <TrackList label="Popular tracks" tracks={tracks} />
      </section>
    )
  );
}

/** Another artist may have the same name. */
const mostPopular = (tracks: readonly CatalogTrack[], artistId: string): CatalogTrack[] =>
  tracks
    .filter(({ artists }) => artists.some((one) => one.id === artistId))
    .toSorted((one, other) => (other.popularity ?? 0) - (one.popularity ?? 0))
    .slice(0, POPULAR_COUNT);
