"use client";
import { Disc3, Link2, Search } from "lucide-react";
import type { Artist } from "@/lib/artists/artist.ts";
import type { getArtistContract } from "@/lib/artists/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { Button, ButtonLink } from "../../_ui/button.tsx";
import { EmptyState, Loaded } from "../../_ui/states.tsx";
import { toast } from "../../_ui/toast.tsx";
import { type CatalogSearch, searchPath } from "../../catalog/catalog-query.ts";
import { Discography } from "../../catalog/discography.tsx";
import { AlbumSkeletons } from "../../catalog/lists.tsx";

interface ArtistMusicProps {
  readonly artist: Artist;
  readonly onLinked: (artist: Artist) => void;
}

/** The artist's albums and tracks: of the linked entry of the catalog, or of one with the same name. */
export function ArtistMusic({ artist, onLinked }: ArtistMusicProps) {
  const { catalog_artist_id: linked, name } = artist;
  const query = useQuery<CatalogSearch>(linked === null ? searchPath(name, ["artist"], 10) : null);
  if (linked !== null) return <Discography id={linked} name={name} />;
  return (
    <Loaded query={query} loading={<AlbumSkeletons />}>
      {({ artists }) => {
        const match = artists?.items.find(
          (one) => one.name.localeCompare(name, undefined, { sensitivity: "base" }) === 0,
        );
        return match ? (
          <>
            <Match artist={artist} catalogId={match.id} onLinked={onLinked} />
            <Discography id={match.id} name={match.name} />
          </>
        ) : (
          <EmptyState
            icon={Disc3}
            title="No releases found"
            text={`The catalog has no artist named ${name}. If it has the artist under another name, edit the artist and link it.`}
          >
            <ButtonLink icon={Search} href="/catalog" variant="outline">
              Search catalog
            </ButtonLink>
          </EmptyState>
        );
      }}
    </Loaded>
  );
}

interface MatchProps {
  readonly artist: Artist;
  readonly catalogId: string;
  readonly onLinked: (artist: Artist) => void;
}

function Match({ artist, catalogId, onLinked }: MatchProps) {
  const { send, busy } = useSubmit();
  const link = async () => {
    const result = await send<Answer<typeof getArtistContract>>(
      `/api/artists/${artist.account_id}`,
      { method: "PATCH", body: { catalog_artist_id: catalogId } },
    );
    if (!result.ok) return toast(result.error.message, "danger");
    onLinked(result.data.artist);
    toast("Linked to the catalog");
  };
  return (
    <div className="mb-6 flex flex-wrap items-center justify-between gap-3 rounded-xl border bg-muted/50 px-4 py-3">
      <p className="min-w-0 flex-1 basis-60 text-sm">
        These releases are of the artist with the same name in the catalog. Link it if that is
        right.
      </p>
      <Button icon={Link2} variant="outline" size="sm" busy={busy} onClick={() => void link()}>
        Link artist
      </Button>
    </div>
  );
}
