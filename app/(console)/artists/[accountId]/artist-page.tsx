"use client";
import { FolderOpen, Pencil, UserX } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import type { getArtistContract } from "@/lib/artists/contract.ts";
import { type Answer, remove } from "../../_api/request.ts";
import { useOrganizationNames } from "../../_hooks/shared-reads.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { chooseArtist, currentScope } from "../../_session/scope.ts";
import { Badge } from "../../_ui/badge.tsx";
import { Button, ButtonLink } from "../../_ui/button.tsx";
import { ConfirmDialog } from "../../_ui/dialog.tsx";
import { Page } from "../../_ui/page-header.tsx";
import { Loaded, Loading, Missing, Skeleton } from "../../_ui/states.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../_ui/tabs.tsx";
import { toast } from "../../_ui/toast.tsx";
import { ArtistCover } from "../artist-tag.tsx";
import { ArtistMedia } from "./artist-media.tsx";
import { ArtistMusic } from "./artist-music.tsx";
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
export function ArtistPage({ id }: { readonly id: string }) {
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

interface HeadingProps {
  readonly artist: Artist;
  readonly onSaved: (artist: Artist) => void;
}

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
          trigger={<Button variant="danger-ghost">Delete</Button>}
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
