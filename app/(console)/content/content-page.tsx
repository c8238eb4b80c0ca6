"use client";
import { useSearchParams } from "next/navigation";
import { useRef, useState } from "react";
import type { createImageContract } from "@/lib/content/contract.ts";
import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import type { Answer } from "../_api/request.ts";
import { useFollowArtist } from "../_hooks/use-follow-artist.ts";
import { useForm } from "../_hooks/use-form.ts";
import type { Submit } from "../_hooks/use-submit.ts";
import { ArtistChip } from "../_session/artist-chip.tsx";
import { useScope } from "../_session/scope.ts";
import { useFrame } from "../_shell/frame.tsx";
import { Card } from "../_ui/card.tsx";
import { Sparkles } from "../_ui/icons.tsx";
import { TextLink } from "../_ui/link.tsx";
import { Page, Section } from "../_ui/page-header.tsx";
import { EmptyState, ErrorState, ShowMore } from "../_ui/states.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import { toast } from "../_ui/toast.tsx";
import { stateOf, summaryOf, useContentRuns } from "../runs/_state/task-run-state.ts";
import {
  emptyImage,
  emptyVideo,
  firstFrameBody,
  type ImageValues,
  imageBody,
  lacksFirstFrame,
  type VideoValues,
  valuesOf,
  videoBody,
} from "./content-form.ts";
import { ResultTile, tilesStyle } from "./result-tile.tsx";
import { Stage, StageSkeleton, Working } from "./stage.tsx";
import { IMAGE_TEXTS, ImageForm, VIDEO_TEXTS, VideoForm } from "./video-form.tsx";

type Kind = "image" | "video";

/**
 * The page for generating images and videos. A generation is a task run: the page finds it in the
 * list of runs, even after a reload, and shows it when it is done.
 */
export function ContentPage() {
  const params = useSearchParams();
  const [kind, setKind] = useState<Kind>(params.get("kind") === "video" ? "video" : "image");
  const image = useForm(emptyImage, IMAGE_TEXTS);
  const video = useForm(emptyVideo, VIDEO_TEXTS);
  const busy = image.busy || video.busy;
  const forms = useRef<HTMLDivElement>(null);
  const results = useRef<HTMLDivElement>(null);

  const { artist } = useScope();
  const { list, runs } = useContentRuns(
    (data) => (busy || data?.runs.some(isActive) === true) && 1_500,
  );
  const selected = params.get("runId");
  useFollowArtist(selected ?? "", () => select(null));

  const newest = runs?.[0]?.id ?? null;
  /** The newest run when the form was sent; a newer one is the run of the form. */
  const [newestBefore, setNewestBefore] = useState<string | null>(null);
  const isPending = busy && newest === newestBefore;

  /** Without a first frame, one is generated from the prompt before the video. */
  const sendVideo = async () => {
    let { values } = video;
    if (lacksFirstFrame(values)) {
      const frame = await send(video, "/api/content/image", firstFrameBody(values));
      if (!frame.ok || frame.data.imageUrl === undefined) return;
      values = { ...values, image_url: frame.data.imageUrl };
      video.set(values);
    }
    const result = await send(video, "/api/content/video", videoBody(values));
    if (result.ok) toast("Your video is ready");
  };
  const sendImage = async () => {
    const result = await send(image, "/api/content/image", imageBody(image.values));
    if (result.ok) toast("Your images are ready");
  };
  const send = async (form: Submit, path: string, settings: object) => {
    const body = artist === null ? settings : { ...settings, artist_id: artist.id };
    setNewestBefore(newest);
    select(null);
    // On a phone, the results are below the form.
    results.current?.scrollIntoView({ block: "nearest" });
    const result = await form.send<Partial<Answer<typeof createImageContract>>>(path, { body });
    list.reload();
    return result;
  };
  const choose = (next: Kind) => {
    image.clearError();
    video.clearError();
    setKind(next);
  };
  const fill = (values: { image: ImageValues } | { video: Partial<VideoValues> }) => {
    if ("video" in values) video.set(values.video);
    else image.set(values.image);
    choose("video" in values ? "video" : "image");
    forms.current?.scrollIntoView({ block: "start" });
  };

  const shownId = selected ?? newest;
  return (
    <Page
      title="Content"
      description="Generate an image, then turn it into a video. You can use each result as the input for the next."
    >
      {!useFrame().hasMediaModel && (
        <p className="-mt-2 mb-4 text-sm text-muted-foreground">
          No image or video model is connected yet, so a simple renderer draws stand-ins.{" "}
          <TextLink href="/docs/settings" className="underline">
            Connect a model
          </TextLink>
        </p>
      )}
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,25rem)_minmax(0,1fr)]">
        <Card ref={forms} tabIndex={-1} className="scroll-mt-4 pt-2 outline-none">
          <ArtistChip next={forms} className="mt-2" />
          <Tabs value={kind} onValueChange={(next) => choose(next === "video" ? next : "image")}>
            <TabsList aria-label="Content type" className="-mx-4 px-4">
              <TabsTrigger value="image">Image</TabsTrigger>
              <TabsTrigger value="video">Video</TabsTrigger>
            </TabsList>
            <TabsContent value="image">
              <ImageForm form={image} busy={busy} onSubmit={() => void sendImage()} />
            </TabsContent>
            <TabsContent value="video">
              <VideoForm form={video} busy={busy} onSubmit={() => void sendVideo()} />
            </TabsContent>
          </Tabs>
        </Card>
        <div ref={results} className="flex min-w-0 scroll-mt-4 flex-col gap-6">
          {list.error !== null && <ErrorState error={list.error} onRetry={list.reload} />}
          {isPending ? (
            <Working text="Starting…" run={null} />
          ) : shownId !== null ? (
            <Stage
              key={shownId}
              id={shownId}
              item={runs?.find(({ id }) => id === shownId)}
              onUse={(values) => fill({ video: values })}
              onReuse={(run) => fill(valuesOf(run))}
            />
          ) : runs !== undefined ? (
            <EmptyState
              icon={Sparkles}
              title={`No images or videos ${artist === null ? "" : `for ${artist.name} `}yet`}
              text="Describe an image and generate it. You can then use it as the first frame of a video. For ideas, choose a template."
            />
          ) : (
            list.error === null && <StageSkeleton />
          )}
          {runs !== undefined && runs.length > 0 && (
            <History runs={runs} shownId={isPending ? null : shownId} onSelect={select} />
          )}
        </div>
      </div>
    </Page>
  );
}

const isActive = ({ status }: TaskRun): boolean => stateOf(status).isActive;

function select(runId: string | null): void {
  const query = runId === null ? "" : `?runId=${encodeURIComponent(runId)}`;
  history.replaceState(null, "", `/content${query}`);
}

const INITIAL_COUNT = 12;

interface HistoryProps {
  readonly runs: readonly TaskRun[];
  readonly shownId: string | null;
  readonly onSelect: (runId: string) => void;
}

function History({ runs, shownId, onSelect }: HistoryProps) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? runs : runs.slice(0, INITIAL_COUNT);
  return (
    <Section title="History">
      <ul className={tilesStyle}>
        {shown.map((run) => (
          <li key={run.id} className="min-w-0">
            <button
              type="button"
              aria-pressed={run.id === shownId}
              title={summaryOf(run) ?? undefined}
              onClick={() => onSelect(run.id)}
              className="block w-full rounded-lg text-left"
            >
              <ResultTile run={run} />
            </button>
          </li>
        ))}
      </ul>
      {!showsAll && runs.length > INITIAL_COUNT && (
        <ShowMore onClick={() => setShowsAll(true)}>Show all {runs.length}</ShowMore>
      )}
    </Section>
  );
}
