"use client";
import { useRouter } from "next/navigation";
import type { Artist } from "@/lib/artists/artist.ts";
import { useOrganizationNames } from "../_hooks/shared-reads.ts";
import { useOpenedByLink } from "../_hooks/use-opened-by-link.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { chooseArtist, useScope } from "../_session/scope.ts";
import { Button, ButtonLink } from "../_ui/button.tsx";
import { MicVocal, Plus, Search } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { Page } from "../_ui/page-header.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { ArtistCover } from "./artist-tag.tsx";

const ArtistForm = lazyComponent(() => import("./artist-form.tsx"), "ArtistForm");

/** The artists that the account works for, or that belong to the chosen organization. */
export function ArtistsPage() {
  const { organization } = useScope();
  const filter = organization === null ? "" : `?org_id=${organization.id}`;
  const artists = usePages<Artist>(`/api/artists${filter}`, "artists");
  const names = useOrganizationNames();
  const router = useRouter();
  const [creating, setCreating] = useOpenedByLink();
  const { send, busy } = useSubmit();
  const open = (artist: Artist) => {
    chooseArtist(artist);
    toast(`${artist.name} added. New chats and schedules are for this artist.`);
    router.push(`/artists/${artist.account_id}`);
  };
  const loadExample = async () => {
    const result = await send<{ artist: Artist }>("/api/artists/example");
    if (result.ok) open(result.data.artist);
    else toast(result.error.message, "danger");
  };
  const create = (
    <Button icon={Plus} onClick={() => setCreating(true)}>
      New artist
    </Button>
  );
  return (
    <Page
      title="Artists"
      description={
        organization === null
          ? "Everyone you work for. Chats, runs and schedules can belong to an artist."
          : `Artists of ${organization.name}. All of its members work for them.`
      }
      actions={artists.items?.length ? create : undefined}
    >
      <PagedList
        label="Artists"
        pages={artists}
        cards={{
          grid: "grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-4",
          placeholder: "h-60 rounded-xl",
        }}
        keyOf={({ account_id }) => account_id}
        empty={
          <EmptyState
            icon={MicVocal}
            title="No artists yet"
            text="Add the artists you work for. Their releases, chats, runs and costs then come together on one page."
          >
            {create}
            <ButtonLink icon={Search} href="/catalog" variant="outline">
              Find in catalog
            </ButtonLink>
            {organization === null && (
              <Button variant="outline" busy={busy} onClick={() => void loadExample()}>
                Load an example
              </Button>
            )}
          </EmptyState>
        }
      >
        {(artist) => (
          <ArtistCard artist={artist} organization={names.get(artist.organization_id ?? "")} />
        )}
      </PagedList>
      {creating && <ArtistForm artist={null} onClose={() => setCreating(false)} onSaved={open} />}
    </Page>
  );
}

type ArtistCardProps = Readonly<{ artist: Artist; organization: string | undefined }>;

const ArtistCard = ({ artist, organization }: ArtistCardProps) => (
  <Link
    href={`/artists/${artist.account_id}`}
    className="group flex h-full flex-col items-center rounded-xl border bg-surface p-5 text-center shadow-xs transition-colors hover:border-input hover:bg-muted"
  >
    <ArtistCover
      artist={artist}
      className="w-full max-w-32 shadow-sm transition-transform group-hover:scale-[1.03]"
    />
    <span className="mt-4 line-clamp-2 w-full font-semibold break-words">{artist.name}</span>
    <span className="w-full truncate text-sm text-muted-foreground">
      {artist.label ?? "No label"}
    </span>
    {organization !== undefined && (
      <span className="mt-1 w-full truncate text-xs text-muted-foreground">{organization}</span>
    )}
  </Link>
);
