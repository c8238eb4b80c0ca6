import Link from "next/link";
import { Cover } from "../_ui/cover.tsx";
import { Loading, Skeleton } from "../_ui/states.tsx";
import { albumPage, type CatalogAlbum } from "./catalog-query.ts";

const kinds = { album: "Album", single: "Single", compilation: "Compilation" } as const;

const gridStyle = "grid grid-cols-2 gap-x-4 gap-y-5 sm:grid-cols-4 lg:grid-cols-5";

/** Albums as covers that lead to their tracks. */
export function AlbumGrid({
  albums,
  withArtists = false,
}: {
  readonly albums: readonly CatalogAlbum[];
  readonly withArtists?: boolean;
}) {
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
                ? album.artists.map(({ name }) => name).join(", ")
                : `${album.release_date.slice(0, 4)} · ${kinds[album.album_type]}`}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export function AlbumSkeletons() {
  return (
    <Loading label="Loading albums…" className={gridStyle}>
      {["a", "b", "c", "d", "e"].map((key) => (
        <div key={key}>
          <Skeleton className="aspect-square rounded-lg" />
          <Skeleton className="mt-2 h-4 w-3/4" />
        </div>
      ))}
    </Loading>
  );
}
