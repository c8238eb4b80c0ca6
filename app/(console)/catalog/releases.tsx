"use client";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { Loaded } from "../_ui/states.tsx";
import { AlbumGrid, AlbumSkeletons } from "./album-grid.tsx";
import { type CatalogSearch, searchPath } from "./catalog-query.ts";

const GENRES = ["dream pop", "soul", "jazz", "techno", "folk", "cumbia", "punk"] as const;
const YEARS = 5;

/** What the catalog shows before anything is searched: recent releases, and genres to start from. */
export function Releases({ onSearch }: { readonly onSearch: (text: string) => void }) {
  const year = new Date().getFullYear();
  const query = useQuery<CatalogSearch>(searchPath(`year:${year - YEARS}-${year}`, ["album"], 20));
  return (
    <>
      <ul aria-label="Genres" className="mb-6 flex flex-wrap gap-1.5">
        {GENRES.map((genre) => (
          <li key={genre}>
            <Button variant="outline" size="sm" onClick={() => onSearch(`genre:"${genre}"`)}>
              {genre}
            </Button>
          </li>
        ))}
      </ul>
      <h2 className="mb-3 font-semibold">Recent releases</h2>
      <Loaded query={query} loading={<AlbumSkeletons />}>
        {({ albums }) =>
          albums?.items.length ? (
            // An album that is listed by year alone comes last in its year.
            <AlbumGrid
              albums={albums.items.toSorted((one, other) =>
                other.release_date.localeCompare(one.release_date),
              )}
              withArtists
            />
          ) : (
            <p className="text-muted-foreground">
              No releases of the last {YEARS} years. Search for an artist, an album or a track.
            </p>
          )
        }
      </Loaded>
    </>
  );
}
