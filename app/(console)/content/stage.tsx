import { useState } from "react";
import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { useFrame } from "../_shell/frame.tsx";
import { Badge } from "../_ui/badge.tsx";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { CopyButton } from "../_ui/copy-button.tsx";
import { AnchoredMenu, MenuItem } from "../_ui/dropdown-menu.tsx";
import { formatDuration } from "../_ui/format.ts";
import { Clapperboard, Download, LoaderCircle, RotateCcw } from "../_ui/icons.tsx";
import { TextLink } from "../_ui/link.tsx";
import { MediaView } from "../_ui/media-view.tsx";
import { MenuButton } from "../_ui/menu-button.tsx";
import { ErrorState, Loading, Skeleton } from "../_ui/states.tsx";
import { spanOf, stateOf, summaryOf, useTaskRun } from "../runs/_state/task-run-state.ts";
import type { VideoValues } from "./content-form.ts";
import { type ContentMedia, mediaAddress, mediaIn, stepOf, titleOf } from "./content-result.ts";
import { MediaThumbnail } from "./result-tile.tsx";

interface ResultActions {
  readonly onUse: (values: Partial<VideoValues>) => void;
  readonly onReuse: (run: TaskRun) => void;
}

interface StageProps extends ResultActions {
  readonly id: string;
  /** The run as the list has it; undefined if it is older than the list. */
  readonly item: TaskRun | undefined;
}

/** One run: its progress, then its result with the actions for it. */
export function Stage({ id, item, ...actions }: StageProps) {
  const { run: whole, error } = useTaskRun(id, item?.updatedAt);
  // While a run is active, the list is polled more often than the run itself.
  const isEnded = item === undefined || !stateOf(item.status).isActive;
  const run = isEnded ? whole : item;
  if (run === undefined) return error === null ? <StageSkeleton /> : <ErrorState error={error} />;
  return (
    <section aria-label="Result" className="flex min-w-0 flex-col gap-3">
      <Result run={run} {...actions} />
      <About run={run} />
    </section>
  );
}

function Result({ run, onUse, onReuse }: ResultActions & { readonly run: TaskRun }) {
  const state = stateOf(run.status);
  const media = mediaIn(run);
  const [place, setPlace] = useState(0);
  const shown = media[place] ?? media[0];
  const { mediaOrigin } = useFrame();
  const reuse = (variant: "outline" | "ghost", text: string) => (
    <Button icon={RotateCcw} variant={variant} size="sm" onClick={() => onReuse(run)}>
      {text}
    </Button>
  );
  if (state.isActive) return <Working text={stepOf(run) ?? `${state.label}…`} run={run} />;
  if (shown === undefined) {
    return (
      <div role="alert" className="rounded-xl border bg-danger-soft p-5">
        <p className="mb-3 font-medium text-danger-text [overflow-wrap:anywhere]">
          {run.error?.message ?? `${state.label}: no result`}
        </p>
        {reuse("outline", "Retry with these settings")}
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
                className="relative block size-16 overflow-hidden rounded-md border aria-pressed:ring-2 aria-pressed:ring-accent-text"
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
          href={mediaAddress(shown.url, mediaOrigin) ?? shown.url}
          download={`${shown.kind}-${run.id}${extensionOf(shown.url)}`}
          className={buttonStyle({ variant: "outline", size: "sm" })}
        >
          <Download aria-hidden />
          Download
        </a>
        <CopyButton text={shown.url} label="Copy link">
          Copy link
        </CopyButton>
        {reuse("ghost", "Reuse settings")}
      </div>
    </>
  );
}

type UseAsProps = Readonly<{ media: ContentMedia; onUse: (values: Partial<VideoValues>) => void }>;

function UseAs({ media: { kind, url }, onUse }: UseAsProps) {
  const extend = () => onUse({ mode: "extend", video_url: url });
  if (kind === "video") {
    return (
      <Button icon={Clapperboard} size="sm" onClick={extend}>
        Extend video
      </Button>
    );
  }
  return (
    <span className="relative">
      <MenuButton
        className={buttonStyle({ size: "sm" })}
        menu={(state) => (
          <AnchoredMenu {...state} label="Use in video">
            {IMAGE_USES.map(({ label, mode, input }) => (
              <MenuItem key={label} onSelect={() => onUse({ mode, [input]: url })}>
                {label}
              </MenuItem>
            ))}
          </AnchoredMenu>
        )}
      >
        <Clapperboard aria-hidden />
        Use in video
      </MenuButton>
    </span>
  );
}

const IMAGE_USES = [
  { label: "Animate", mode: "animate", input: "image_url" },
  { label: "Use as first frame", mode: "first-last", input: "image_url" },
  { label: "Use as last frame", mode: "first-last", input: "end_image_url" },
  { label: "Use as style reference", mode: "reference", input: "image_url" },
  { label: "Use as face for lip sync", mode: "lipsync", input: "image_url" },
] as const;

function About({ run }: { readonly run: TaskRun }) {
  const text = summaryOf(run);
  const { placeholder, notice } = Object(run.output);
  return (
    <div>
      <div className="flex flex-wrap items-center gap-1.5">
        <h2 className="mr-1 font-semibold">{titleOf(run)}</h2>
        {settingsOf(run).map((setting) => (
          <Badge key={setting}>{setting}</Badge>
        ))}
        <TextLink href={`/runs?runId=${run.id}`} className="ml-auto text-sm">
          View run
        </TextLink>
      </div>
      {placeholder === true && (
        <p className="mt-1.5 text-sm text-warning-text">Placeholder. {String(notice)}</p>
      )}
      {text !== null && (
        <p className="mt-1.5 line-clamp-4 whitespace-pre-wrap text-muted-foreground [overflow-wrap:anywhere]">
          {text}
        </p>
      )}
    </div>
  );
}

/** The settings of the request, with the ones that a template chose. */
function settingsOf({ payload, metadata }: TaskRun): string[] {
  const settings = new Map(Object.entries({ ...Object(payload), ...metadata }));
  const names = ["template", "aspect_ratio", "duration", "resolution", "movement", "mood"];
  return names.map((name) => settings.get(name)).filter((value) => typeof value === "string");
}

const isUpright = ({ payload }: TaskRun): boolean => Object(payload).aspect_ratio === "9:16";

const extensionOf = (url: string): string => /\.\w+$/.exec(new URL(url).pathname)?.[0] ?? "";

/** A run that is active; null while the request has none in the list yet. */
export function Working({ text, run }: { readonly text: string; readonly run: TaskRun | null }) {
  const now = useClock(true);
  const span = run && spanOf(run, now);
  return (
    <div className="flex aspect-video w-full flex-col items-center justify-center rounded-xl border bg-muted/50 p-4 text-center">
      <LoaderCircle aria-hidden className="size-6 animate-spin text-accent-text" />
      <p role="status" className="mt-3 font-medium">
        {text}
      </p>
      <p className="text-sm text-muted-foreground tabular-nums">
        {span === null ? "Just a moment" : formatDuration(Math.floor(span / 1_000) * 1_000)}
      </p>
      <p className="mt-2 max-w-64 text-sm text-muted-foreground">
        You can leave this page. The result will be here when you come back.
      </p>
    </div>
  );
}

export const StageSkeleton = () => (
  <Loading label="Loading result…">
    <Skeleton className="aspect-video w-full rounded-xl" />
    <Skeleton className="mt-3 h-7 w-64 max-w-full" />
  </Loading>
);
