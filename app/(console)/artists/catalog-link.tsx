"use client";
import { Link2, Unlink } from "lucide-react";
import { useState } from "react";
import { api } from "../_api/request.ts";
import { Button } from "../_ui/button.tsx";
import { Cover } from "../_ui/cover.tsx";
import { type CatalogArtist, type CatalogSearch, searchPath } from "../catalog/catalog-query.ts";
import { Popularity } from "../catalog/popularity.tsx";

const MAX_RESULTS = 5;

type Search =
  | { readonly status: "idle" | "searching" | "failed" }
  | { readonly status: "found"; readonly artists: readonly CatalogArtist[] };

/** Chooses the artist's entry in the catalog, found by the name in the form. */
export function CatalogLink({
  name,
  value,
  onChange,
}: {
  readonly name: string;
  /** The id in the catalog; null without a link. */
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
}) {
  const [search, setSearch] = useState<Search>({ status: "idle" });
  const find = async () => {
    setSearch({ status: "searching" });
    const result = await api<CatalogSearch>(searchPath(name.trim(), ["artist"], MAX_RESULTS));
    setSearch(
      result.ok
        ? { status: "found", artists: result.data.artists?.items ?? [] }
        : { status: "failed" },
    );
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
          <Button variant="outline" size="sm" onClick={() => onChange(null)}>
            <Unlink aria-hidden />
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
              variant="outline"
              size="sm"
              busy={search.status === "searching"}
              disabled={name.trim() === ""}
              onClick={() => void find()}
            >
              <Link2 aria-hidden />
              Find by name
            </Button>
          </div>
          <div role="status">
            {search.status === "failed" && (
              <p className="mt-2 text-sm text-danger-text">
                The catalog could not be searched. Try again.
              </p>
            )}
            {search.status === "found" && search.artists.length === 0 && (
              <p className="mt-2 text-sm text-muted-foreground">
                The catalog has no artist of this name.
              </p>
            )}
          </div>
          {search.status === "found" && search.artists.length > 0 && (
            <ul className="mt-3 space-y-1">
              {search.artists.map((found) => (
                <li key={found.id}>
                  <button
                    type="button"
                    aria-label={`Link to ${found.name}`}
                    onClick={() => onChange(found.id)}
                    className="flex w-full items-center gap-3 rounded-md px-2 py-1.5 text-left hover:bg-hover"
                  >
                    <Cover seed={found.id} image={found.images[0]?.url} round className="size-9" />
                    <span className="min-w-0 flex-1">
                      <span className="block truncate font-medium">{found.name}</span>
                      <span className="block truncate text-sm text-muted-foreground">
                        {found.genres?.join(", ")}
                      </span>
                    </span>
                    {found.popularity !== undefined && <Popularity value={found.popularity} />}
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
