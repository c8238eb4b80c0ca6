"use client";
import { useParams, useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import { useQuery } from "../../../_hooks/use-query.ts";
import { lazyComponent } from "../../../_load/lazy-component.tsx";
import { Button } from "../../../_ui/button.tsx";
import { Cover } from "../../../_ui/cover.tsx";
import { formatCount } from "../../../_ui/format.ts";
import { UserPlus, UserX } from "../../../_ui/icons.tsx";
import { BackLink, Page } from "../../../_ui/page-header.tsx";
import { EmptyState, Loaded, Loading } from "../../../_ui/states.tsx";
import {
  type AlbumPage,
  artistAlbumsPath,
  byArtist,
  type CatalogSearch,
  Discography,
  Popularity,
  searchPath,
} from "../../lists.tsx";

const ArtistForm = lazyComponent(() => import("../../../artists/artist-form.tsx"), "ArtistForm");

/** An artist of the catalog, who can be added to the artists that the account works for. */
export function CatalogArtistPage() {
  const { id } = useParams<{ id: string }>();
  const given = useSearchParams().get("name") ?? "";
  return (
    <Page>
      <BackLink href="/catalog">Catalog</BackLink>
      {given === "" ? <Unnamed id={id} /> : <Details id={id} name={given} />}
    </Page>
  );
}

/** The address can be shared without the name: then the artist's albums have it. */
function Unnamed({ id }: { readonly id: string }) {
  const missing = (
    <EmptyState
      icon={UserX}
      isWholePage
      title="Artist not found"
      text="The catalog has no artist at this address. Search for them by name."
    />
  );
  return (
    <Loaded
      query={useQuery<AlbumPage>(artistAlbumsPath(id))}
      missing={missing}
      loading={<Loading label="Loading the artist…" className="h-28 rounded-xl" />}
    >
      {({ items }) => {
        const credits = items.flatMap(({ artists }) => artists);
        const name = credits.find((one) => one.id === id)?.name;
        return name === undefined ? missing : <Details id={id} name={name} />;
      }}
    </Loaded>
  );
}

function Details({ id, name }: { readonly id: string; readonly name: string }) {
  const found = useQuery<CatalogSearch>(searchPath(byArtist(name), ["artist"], 10));
  const router = useRouter();
  const [adding, setAdding] = useState(false);
  const artist = found.data?.artists?.items.find((one) => one.id === id);
  return (
    <>
      <header className="mb-8 flex flex-wrap items-center gap-5">
        <Cover
          seed={id}
          image={artist?.images[0]?.url}
          round
          className="size-24 shadow-sm sm:size-28"
        />
        <div className="min-w-0 flex-1 basis-48">
          <h1 className="text-2xl font-semibold tracking-tight wrap-anywhere">{name}</h1>
          <p className="mt-1 text-muted-foreground">{artist?.genres?.join(", ")}</p>
          <div className="mt-2 flex flex-wrap items-center gap-4 text-sm text-muted-foreground">
            {artist?.popularity !== undefined && <Popularity value={artist.popularity} />}
            {artist?.followers !== undefined && (
              <span>{formatCount(artist.followers.total)} followers</span>
            )}
          </div>
        </div>
        <Button icon={UserPlus} variant="outline" onClick={() => setAdding(true)}>
          Add to my artists
        </Button>
      </header>
      <Discography id={id} name={name} />
      {adding && (
        <ArtistForm
          artist={null}
          suggested={{ name, catalogArtistId: id }}
          onClose={() => setAdding(false)}
          onSaved={(saved) => router.push(`/artists/${saved.account_id}`)}
        />
      )}
    </>
  );
}
