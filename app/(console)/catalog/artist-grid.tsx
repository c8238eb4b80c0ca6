import Link from "next/link";
import { artistPage } from "@/app/(console)/catalog/catalog-query.ts";
import type { CatalogArtist } from "@/app/(console)/catalog/catalog-types.ts";
import { Cover } from "../_ui/cover.tsx";
import { Popularity } from "./popularity.tsx";

export function ArtistGrid({ artists }: { readonly artists: readonly CatalogArtist[] }) {
  return (
    <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
      {artists.map((artist) => (
        <li key={artist.id} className="min-w-0">
          <Link
            href={artistPage(artist)}
            prefetch={false}
            className="group flex items-center gap-3 rounded-xl border bg-surface p-3 hover:border-input hover:bg-muted"
          >
            <Cover seed={artist.id} image={artist.images[0]?.url} round className="size-14" />
            <span className="min-w-0">
              <span className="block truncate font-medium">{artist.name}</span>
              <span className="block truncate text-sm text-muted-foreground">
                {artist.genres?.join(", ")}
              </span>
              {artist.popularity !== undefined && <Popularity value={artist.popularity} />}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
