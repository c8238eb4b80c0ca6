"use client";
import { Link2, Unlink } from "lucide-react";
import { useState } from "react";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { Cover } from "../_ui/cover.tsx";
import { type CatalogSearch, searchPath } from "../catalog/catalog-query.ts";
import { Popularity } from "../catalog/lists.tsx";

const MAX_RESULTS = 5;

interface CatalogLinkProps {
  readonly name: string;
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
}

/** Chooses the artist's entry in the catalog, found by the name in the form. */
export function CatalogLink({ name, value, onChange }: CatalogLinkProps) {
  const [wanted, setWanted] = useState<string | null>(null);
  const search = useQuery<CatalogSearch>(wanted && searchPath(wanted, ["artist"], MAX_RESULTS));
  const found = search.data?.artists?.items ?? [];
  const find = () => {
    setWanted(name.trim());
    if (wanted === name.trim()) search.reload();
  };
  return (
    <fieldset className="rounded-lg border p-3">
      <legend className="px-1 text-sm font-medium">Catalog</legend>
      {value !== null ? (
        <div className="flex items-center gap-3">
          <Cover seed={value} round className="size-9" />
          <p className="min-w-0 flex-1 text-sm">
            Linked to the catalog
            <span className="block truncate font-mono text-xs text-muted-foreground">{value}</span>
          </p>
          <Button icon={Unlink} variant="outline" size="sm" onClick={() => onChange(null)}>
            Unlink
          </Button>
        </div>
      ) : (
        <>
          <div className="flex flex-wrap items-center justify-between gap-2">
            <p className="min-w-0 flex-1 basis-56 text-sm text-muted-foreground">
              Link the artist, so that its albums and tracks are the right ones.
            </p>
            <Button
              icon={Link2}
              variant="outline"
              size="sm"
              busy={search.loading}
              disabled={name.trim() === ""}
              onClick={find}
            >
              Find by name
            </Button>
          </div>
          <div role="status">
            {search.error !== null && (
              <p className="mt-2 text-sm text-danger-text">
                The catalog could not be searched. Try again.
              </p>
            )}
            {search.data !== undefined && found.length === 0 && (
              <p className="mt-2 text-sm text-muted-foreground">
                The catalog has no artist of this name.
              </p>
            )}
          </div>
          {found.length > 0 && (
            <ul className="mt-3 space-y-1">
              {found.map((artist) => (
                <li key={artist.id}>
                  <button
                    type="button"
                    aria-label={`Link to ${artist.name}`}
                    onClick={() => onChange(artist.id)}
                    className="flex w-full items-center gap-3 rounded-md px-2 py-1.5 text-left hover:bg-hover"
                  >
                    <Cover
                      seed={artist.id}
                      image={artist.images[0]?.url}
                      round
                      className="size-9"
                    />
                    <span className="min-w-0 flex-1">
                      <span className="block truncate font-medium">{artist.name}</span>
                      <span className="block truncate text-sm text-muted-foreground">
                        {artist.genres?.join(", ")}
                      </span>
                    </span>
                    {artist.popularity !== undefined && <Popularity value={artist.popularity} />}
                  </button>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </fieldset>
  );
}
