"use client";
import { useParams, useRouter } from "next/navigation";
import { useState } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import type { getArtistContract } from "@/lib/artists/contract.ts";
import { type Answer, remove } from "../../_api/request.ts";
import { useOrganizationNames } from "../../_hooks/shared-reads.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { chooseArtist, currentScope } from "../../_session/scope.ts";
import { Badge } from "../../_ui/badge.tsx";
import { Button, ButtonLink, SmallButton } from "../../_ui/button.tsx";
import { ConfirmDialog } from "../../_ui/dialog.tsx";
import {
  Disc3,
  FolderOpen,
  Images,
  Link2,
  Pencil,
  Search,
  Sparkles,
  UserX,
} from "../../_ui/icons.tsx";
import { Link } from "../../_ui/link.tsx";
import { Page } from "../../_ui/page-header.tsx";
import {
  EmptyState,
  Loaded,
  Loading,
  Missing,
  ShowMore,
  Skeleton,
  Skeletons,
} from "../../_ui/states.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../_ui/tabs.tsx";
import { toast } from "../../_ui/toast.tsx";
import {
  AlbumSkeletons,
  type CatalogSearch,
  Discography,
  searchPath,
} from "../../catalog/lists.tsx";
import { isContentRun } from "../../content/content-result.ts";
import { ResultTile, tilesStyle } from "../../content/result-tile.tsx";
import type { TaskRunList } from "../../runs/_state/task-run-state.ts";
import { summaryOf } from "../../runs/_state/task-run-state.ts";
import { ArtistCover } from "../artist-tag.tsx";
import {
  ArtistChats,
  ArtistRuns,
  ArtistSchedules,
  ArtistUsage,
  NewChatButton,
} from "./artist-work.tsx";

const ArtistForm = lazyComponent(() => import("../artist-form.tsx"), "ArtistForm");

const TABS = ["Music", "Chats", "Runs", "Media", "Schedules"] as const;

/** Everything about an artist: the releases in the catalog, and the work for the artist here. */
export function ArtistPage() {
  const { accountId: id } = useParams<{ accountId: string }>();
  const query = useQuery<Answer<typeof getArtistContract>>(`/api/artists/${id}`);
  const setArtist = (artist: Artist) => {
    query.change((old) => ({ ...old, artist }));
    if (currentScope().artist?.id !== id) return;
    chooseArtist(artist);
  };
  return (
    <Page>
      <Loaded
        query={query}
        loading={
          <Loading label="Loading the artist…" className="flex items-center gap-5">
            <Skeleton className="size-28 rounded-full" />
            <Skeleton className="h-8 w-60" />
          </Loading>
        }
        missing={
          <Missing
            icon={UserX}
            title="Artist not found"
            text="The artist was deleted, or belongs to an organization that you are not a member of."
            href="/artists"
            link="All artists"
          />
        }
      >
        {({ artist }) => (
          <>
            <Heading artist={artist} onSaved={setArtist} />
            <ArtistUsage id={id} />
            <Tabs defaultValue="Music">
              <TabsList aria-label="Work and releases">
                {TABS.map((tab) => (
                  <TabsTrigger key={tab} value={tab}>
                    {tab}
                  </TabsTrigger>
                ))}
              </TabsList>
              {TABS.map((tab) => (
                <TabsContent key={tab} value={tab} className="pt-6">
                  {tab === "Music" && <ArtistMusic artist={artist} onLinked={setArtist} />}
                  {tab === "Chats" && <ArtistChats artist={artist} />}
                  {tab === "Runs" && <ArtistRuns id={id} />}
                  {tab === "Media" && <ArtistMedia artist={artist} />}
                  {tab === "Schedules" && <ArtistSchedules id={id} />}
                </TabsContent>
              ))}
            </Tabs>
          </>
        )}
      </Loaded>
    </Page>
  );
}

type HeadingProps = Readonly<{ artist: Artist; onSaved: (artist: Artist) => void }>;

function Heading({ artist, onSaved }: HeadingProps) {
  const router = useRouter();
  const organization = useOrganizationNames().get(artist.organization_id ?? "");
  const [editing, setEditing] = useState(false);
  const leave = () => {
    if (currentScope().artist?.id === artist.account_id) chooseArtist(null);
    toast(`${artist.name} deleted`);
    router.push("/artists");
  };
  return (
    <header className="mb-6 flex flex-wrap items-center gap-5">
      <ArtistCover artist={artist} className="size-20 shadow-sm sm:size-28" />
      <div className="min-w-0 flex-1 basis-40 sm:basis-60">
        <h1 className="text-2xl font-semibold wrap-anywhere sm:text-3xl">{artist.name}</h1>
        <p className="mt-1 flex flex-wrap items-center gap-2 text-muted-foreground">
          {artist.label ?? "No label"}
          {organization !== undefined && <Badge>{organization}</Badge>}
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <NewChatButton artist={artist} />
        <ButtonLink icon={FolderOpen} variant="outline" href={`/files?artist=${artist.account_id}`}>
          Files
        </ButtonLink>
        <Button icon={Pencil} variant="outline" onClick={() => setEditing(true)}>
          Edit
        </Button>
        <ConfirmDialog
          title={`Delete ${artist.name}?`}
          description="This permanently deletes the artist with its connections. Its chats, runs, images and videos stay in your account, without an artist, and its schedules are paused."
          confirm="Delete permanently"
          onConfirm={() =>
            remove(`/api/artists/${artist.account_id}`, {
              403: "Only an owner of the organization can delete this artist.",
            })
          }
          onDone={leave}
          button={{ children: "Delete" }}
        />
      </div>
      {editing && (
        <ArtistForm
          artist={artist}
          onClose={() => setEditing(false)}
          onSaved={(saved) => {
            setEditing(false);
            onSaved(saved);
            toast("Artist saved");
          }}
        />
      )}
    </header>
  );
}

/** Each finished tile makes a request for its run, so a page has few. */
const PAGE_SIZE = 24;

/** The newest images and videos for the artist, from the content page and from the agent. */
function ArtistMedia({ artist }: { readonly artist: Artist }) {
  const { account_id: id, name } = artist;
  const [count, setCount] = useState(PAGE_SIZE);
  const query = useQuery<TaskRunList>(`/api/tasks/runs?limit=100&artist_id=${id}`);
  const choose = () => chooseArtist(artist);
  return (
    <Loaded
      query={query}
      loading={
        <Loading label="Loading media…" className={tilesStyle}>
          <Skeletons count={4} className="aspect-square rounded-lg" />
        </Loading>
      }
    >
      {({ runs: all }) => {
        const runs = all.filter(isContentRun);
        if (runs.length === 0) {
          return (
            <EmptyState
              icon={Images}
              title="No media yet"
              text={`Images and videos that you or the agent generate for ${name} appear here: cover art, canvases, clips for a release.`}
            >
              <ButtonLink icon={Sparkles} href="/content" onClick={choose}>
                Generate an image
              </ButtonLink>
            </EmptyState>
          );
        }
        return (
          <>
            <ul aria-label="Media" className={tilesStyle}>
              {runs.slice(0, count).map((run) => (
                <li key={run.id} className="min-w-0">
                  <Link
                    href={`/content?runId=${run.id}`}
                    onClick={choose}
                    title={summaryOf(run) ?? undefined}
                    className="block rounded-lg"
                  >
                    <ResultTile run={run} />
                  </Link>
                </li>
              ))}
            </ul>
            {runs.length > count && <ShowMore onClick={() => setCount(count + PAGE_SIZE)} />}
          </>
        );
      }}
    </Loaded>
  );
}

type ArtistMusicProps = Readonly<{ artist: Artist; onLinked: (artist: Artist) => void }>;

/** The artist's albums and tracks: of the linked entry of the catalog, or of one with the same name. */
function ArtistMusic({ artist, onLinked }: ArtistMusicProps) {
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
            <Match {...{ artist, onLinked }} catalogId={match.id} />
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

function Match({ artist, catalogId, onLinked }: ArtistMusicProps & { readonly catalogId: string }) {
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
      <SmallButton icon={Link2} busy={busy} onClick={() => void link()}>
        Link artist
      </SmallButton>
    </div>
  );
}
