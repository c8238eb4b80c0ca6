"use client";
import { MicVocal, Plus, Search } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useOpenedByLink } from "@/app/(console)/_hooks/use-opened-by-link.ts";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import { chooseArtist, useScope } from "@/app/(console)/_session/scope.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { LoadMore } from "../_ui/load-more.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { toast } from "../_ui/toast.tsx";
import { ArtistCard } from "./artist-card.tsx";
import { coverSeed } from "./cover-seed.ts";
import { useOrganizationNames } from "./use-organization-names.ts";

const ArtistForm = lazyComponent(() =>
  import("./artist-form.tsx").then((module) => module.ArtistForm),
);

/** The artists that the account works for, or those of the chosen organization. */
export function ArtistsPage() {
  const { organization } = useScope();
  const filter = organization === null ? "" : `?org_id=${organization.id}`;
  const artists = usePages<Artist>(`/api/artists${filter}`, "artists");
  const names = useOrganizationNames();
  const router = useRouter();
  const [creating, setCreating] = useOpenedByLink();
  const { items } = artists;
  const create = (
    <Button onClick={() => setCreating(true)}>
      <Plus aria-hidden />
      New artist
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Artists"
        description={
          organization === null
            ? "Everyone you work for. Chats, runs and schedules can belong to an artist."
            : `Artists of ${organization.name}. All of its members work for them.`
        }
      >
        {items !== undefined && items.length > 0 && create}
      </PageHeader>
      {artists.error !== null && <ErrorState error={artists.error} onRetry={artists.loadMore} />}
      {items === undefined && artists.error === null && <CardSkeletons />}
      {items?.length === 0 && (
        <EmptyState
          icon={MicVocal}
          title="No artists yet"
          text="Add the artists you work for. Their releases, chats, runs and costs then come together on one page."
        >
          {create}
          <Link href="/catalog" className={buttonStyle({ variant: "outline" })}>
            <Search aria-hidden />
            Find in catalog
          </Link>
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <ul className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-4">
          {items.map((artist) => (
            <li key={artist.account_id} className="min-w-0">
              <ArtistCard
                artist={artist}
                organization={names.get(artist.organization_id ?? "") ?? null}
              />
            </li>
          ))}
        </ul>
      )}
      {artists.error === null && <LoadMore pages={artists} />}
      {creating && (
        <ArtistForm
          artist={null}
          onClose={() => setCreating(false)}
          onSaved={(saved) => {
            chooseArtist({ id: saved.account_id, name: saved.name, seed: coverSeed(saved) });
            toast(`${saved.name} added. New chats and schedules are for this artist.`);
            router.push(`/artists/${saved.account_id}`);
          }}
        />
      )}
    </Page>
  );
}

function CardSkeletons() {
  return (
    <div aria-busy="true" className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-4">
      <p className="sr-only">Loading artists…</p>
      {["a", "b", "c", "d"].map((key) => (
        <Skeleton key={key} className="h-60 rounded-xl" />
      ))}
    </div>
  );
}
