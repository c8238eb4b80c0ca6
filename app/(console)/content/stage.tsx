"use client";
import { Clapperboard, Download, LoaderCircle, RotateCcw, Sparkles } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { describeSpan } from "@/app/(console)/_hooks/describe-time.ts";
import { useClock } from "@/app/(console)/_hooks/use-clock.ts";
import type { VideoValues } from "@/app/(console)/content/content-form.ts";
import {
  type ContentMedia,
  mediaAddress,
  mediaIn,
  stepOf,
  titleOf,
} from "@/app/(console)/content/content-result.ts";
import { spanOf, stateOf, summaryOf } from "@/app/(console)/runs/_state/task-run-state.ts";
import { useTaskRun } from "@/app/(console)/runs/_state/use-task-run.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { useFrame } from "../_shell/frame.tsx";
import { Badge } from "../_ui/badge.tsx";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { CopyButton } from "../_ui/copy-button.tsx";
import { DropdownMenu, MenuItem } from "../_ui/dropdown-menu.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { MediaView } from "../_ui/media-view.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { MediaThumbnail } from "./result-thumbnail.tsx";

/** One result in full: what is being made, what it became, and what can be done with it. */
export function Stage({
  id,
  item,
  onUse,
  onAgain,
}: {
  readonly id: string;
  /** As the list has it; one that is older than the list is asked for alone. */
  readonly item: TaskRun | undefined;
  readonly onUse: (values: Partial<VideoValues>) => void;
  readonly onAgain: (run: TaskRun) => void;
}) {
  const { run: whole, error } = useTaskRun(id, item?.updatedAt ?? "");
  // The list is asked more often than the run itself while it goes on.
  const isEnded = item === undefined || !stateOf(item.status).isActive;
  const run = isEnded ? whole : item;
  if (run === undefined) return error === null ? <StageSkeleton /> : <ErrorState error={error} />;
  return (
    <section aria-label="Result" className="flex min-w-0 flex-col gap-3">
      <Frame run={run} onUse={onUse} onAgain={() => onAgain(run)} />
      <About run={run} />
    </section>
  );
}

function Frame({
  run,
  onUse,
  onAgain,
}: {
  readonly run: TaskRun;
  readonly onUse: (values: Partial<VideoValues>) => void;
  readonly onAgain: () => void;
}) {
  const state = stateOf(run.status);
  const media = mediaIn(run);
  const [place, setPlace] = useState(0);
  const shown = media[place] ?? media[0];
  const { mediaOrigin } = useFrame();
  const address = shown && mediaAddress(shown.url, mediaOrigin);
  if (state.isActive) return <Working text={stepOf(run) ?? state.label} run={run} />;
  if (shown === undefined) {
    return (
      <div role="alert" className="rounded-xl border bg-danger-soft p-5">
        <p className="font-medium text-danger-text [overflow-wrap:anywhere]">
          {run.error?.message ?? `${state.label}: nothing was made`}
        </p>
        <Button variant="outline" size="sm" className="mt-3" onClick={onAgain}>
          <RotateCcw aria-hidden />
          Take these settings again
        </Button>
      </div>
    );
  }
  return (
    <>
      <MediaView
        key={shown.url}
        media={shown}
        label={summaryOf(run) ?? titleOf(run)}
        className={cn("rounded-xl", isUpright(run) && "aspect-square")}
      />
      {media.length > 1 && (
        <ul aria-label="Images" className="flex gap-2 overflow-x-auto p-0.5">
          {media.map((one, index) => (
            <li key={one.url}>
              <button
                type="button"
                aria-label={`Image ${index + 1}`}
                aria-pressed={index === place}
                onClick={() => setPlace(index)}
                className={cn(
                  "relative block size-16 overflow-hidden rounded-md border",
                  index === place && "ring-2 ring-accent-text",
                )}
              >
                <MediaThumbnail media={one} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <UseAs media={shown} onUse={onUse} />
        <a
          href={address ?? shown.url}
          download={`${shown.kind}-${run.id}${extensionOf(shown.url)}`}
          className={buttonStyle({ variant: "outline", size: "sm" })}
        >
          <Download aria-hidden />
          Download
        </a>
        <CopyButton text={shown.url} label="Copy the URL">
          Copy URL
        </CopyButton>
        <Button variant="ghost" size="sm" onClick={onAgain}>
          <RotateCcw aria-hidden />
          Use settings again
        </Button>
      </div>
    </>
  );
}

function UseAs({
  media: { kind, url },
  onUse,
}: {
  readonly media: ContentMedia;
  readonly onUse: (values: Partial<VideoValues>) => void;
}) {
  if (kind === "video") {
    return (
      <Button size="sm" onClick={() => onUse({ mode: "extend", video_url: url })}>
        <Clapperboard aria-hidden />
        Extend this video
      </Button>
    );
  }
  return (
    <DropdownMenu
      align="start"
      trigger={
        <Button size="sm">
          <Clapperboard aria-hidden />
          Use in a video
        </Button>
      }
    >
      <MenuItem onSelect={() => onUse({ mode: "animate", image_url: url })}>Animate it</MenuItem>
      <MenuItem onSelect={() => onUse({ mode: "first-last", image_url: url })}>
        As the first frame
      </MenuItem>
      <MenuItem onSelect={() => onUse({ mode: "first-last", end_image_url: url })}>
        As the last frame
      </MenuItem>
      <MenuItem onSelect={() => onUse({ mode: "reference", image_url: url })}>
        As a reference for style
      </MenuItem>
      <MenuItem onSelect={() => onUse({ mode: "lipsync", image_url: url })}>
        As the face of a lipsync
      </MenuItem>
    </DropdownMenu>
  );
}

function About({ run }: { readonly run: TaskRun }) {
  const text = summaryOf(run);
  return (
    <div>
      <div className="flex flex-wrap items-center gap-1.5">
        <h2 className="mr-1 font-semibold">{titleOf(run)}</h2>
        {settingsOf(run).map((setting) => (
          <Badge key={setting}>
            <span className="truncate">{setting}</span>
          </Badge>
        ))}
        <Link
          href={`/runs?runId=${run.id}`}
          prefetch={false}
          className="ml-auto text-sm text-accent-text hover:underline"
        >
          Details of the run
        </Link>
      </div>
      {text !== null && (
        <p className="mt-1.5 line-clamp-4 whitespace-pre-wrap text-muted-foreground [overflow-wrap:anywhere]">
          {text}
        </p>
      )}
    </div>
  );
}

/** What was asked for, and what a template chose. */
function settingsOf({ payload, metadata }: TaskRun): string[] {
  const asked = typeof payload === "object" && payload !== null ? payload : {};
  const told = new Map(Object.entries({ ...asked, ...metadata }));
  const names = ["template", "aspect_ratio", "duration", "resolution", "movement", "mood"];
  return names.map((name) => told.get(name)).filter((value) => typeof value === "string");
}

const isUpright = ({ payload }: TaskRun): boolean =>
  typeof payload === "object" &&
  payload !== null &&
  "aspect_ratio" in payload &&
  payload.aspect_ratio === "9:16";

function extensionOf(url: string): string {
  return /\.\w+$/.exec(new URL(url).pathname)?.[0] ?? "";
}

function Working({ text, run }: { readonly text: string; readonly run: TaskRun | null }) {
  const now = useClock(true);
  const span = run && spanOf(run, now);
  return (
    <StageBox>
      <LoaderCircle aria-hidden className="size-6 animate-spin text-accent-text" />
      <p role="status" className="mt-3 font-medium">
        {text}
      </p>
      <p className="text-sm text-muted-foreground tabular-nums">
        {span === null ? "A moment" : describeSpan(Math.floor(span / 1_000) * 1_000)}
      </p>
      <p className="mt-2 max-w-64 text-sm text-muted-foreground">
        It goes on when you leave, and will be here when you come back.
      </p>
    </StageBox>
  );
}

/** The request is on its way, and its run is not in the list yet. */
export function StagePending() {
  return <Working text="Starting" run={null} />;
}

export function StageSkeleton() {
  return (
    <div aria-busy="true">
      <p className="sr-only">Loading the result</p>
      <Skeleton className="aspect-video w-full rounded-xl" />
      <Skeleton className="mt-3 h-7 w-64 max-w-full" />
    </div>
  );
}

export function StageEmpty() {
  return (
    <EmptyState
      icon={Sparkles}
      title="Nothing made yet"
      text="Describe a picture and make it: it can be the first frame of your first video. Short of ideas? Choose a template."
    />
  );
}

function StageBox({ children }: { readonly children: ReactNode }) {
  return (
    <div className="flex aspect-video w-full flex-col items-center justify-center rounded-xl border bg-muted/50 p-4 text-center">
      {children}
    </div>
  );
}
