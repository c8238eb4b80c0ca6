"use client";
import { Images, Sparkles } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { chooseArtist } from "../../_session/scope.ts";
import { ButtonLink } from "../../_ui/button.tsx";
import { EmptyState, Loaded, Loading, ShowMore, Skeletons } from "../../_ui/states.tsx";
import { isContentRun } from "../../content/content-result.ts";
import { ResultTile, tilesStyle } from "../../content/result-tile.tsx";
import { summaryOf } from "../../runs/_state/task-run-state.ts";
import type { TaskRunList } from "../../runs/_state/use-task-run.ts";

/** Each finished tile is a request for its run, so that few are shown at first. */
const PAGE_SIZE = 24;

/** The newest images and videos for the artist, from the content page and from the agent. */
export function ArtistMedia({ artist }: { readonly artist: Artist }) {
  const { account_id: id, name } = artist;
  const [count, setCount] = useState(PAGE_SIZE);
  const query = useQuery<TaskRunList>(`/api/tasks/runs?limit=100&artist_id=${id}`);
  const choose = () => chooseArtist(artist);
  return (
    <Loaded
      query={query}
      missing={null}
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
                    prefetch={false}
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
