import { useState } from "react";
import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import { Dialog } from "../_ui/dialog.tsx";
import { ImageOff } from "../_ui/icons.tsx";
import { EmptyState, ShowMore, Skeleton } from "../_ui/states.tsx";
import {
  stateOf,
  summaryOf,
  useContentRuns,
  useTaskRunMedia,
} from "../runs/_state/task-run-state.ts";
import { type ContentMedia, isImageRun, titleOf } from "./content-result.ts";
import { MediaThumbnail } from "./result-tile.tsx";

const PAGE_SIZE = 12;

interface ResultPickerProps {
  readonly kind: ContentMedia["kind"];
  readonly onPick: (url: string) => void;
  readonly onClose: () => void;
}

export function ResultPicker({ kind, onPick, onClose }: ResultPickerProps) {
  const [count, setCount] = useState(PAGE_SIZE);
  const runs = (useContentRuns().runs ?? []).filter(
    (run) => stateOf(run.status).tone === "success" && isImageRun(run) === (kind === "image"),
  );
  return (
    <Dialog title={`Your ${kind}s`} onClose={onClose} className="max-w-2xl">
      {runs.length === 0 ? (
        <EmptyState
          icon={ImageOff}
          title={`No ${kind}s yet`}
          text={`Generate ${kind === "image" ? "an image" : "a video"} first, then choose it here.`}
        />
      ) : (
        <ul className="grid grid-cols-3 gap-2 sm:grid-cols-4">
          {runs.slice(0, count).map((run) => (
            <Choices key={run.id} run={run} kind={kind} onPick={onPick} />
          ))}
        </ul>
      )}
      {runs.length > count && <ShowMore onClick={() => setCount(count + PAGE_SIZE)} />}
    </Dialog>
  );
}

function Choices({ run, kind, onPick }: Omit<ResultPickerProps, "onClose"> & { run: TaskRun }) {
  const media = useTaskRunMedia(run);
  const label = summaryOf(run) ?? titleOf(run);
  if (media === undefined) {
    return (
      <li>
        <Skeleton className="aspect-square rounded-lg" />
      </li>
    );
  }
  return media
    .filter((one) => one.kind === kind)
    .map((one, index) => (
      <li key={one.url}>
        <button
          type="button"
          aria-label={index === 0 ? label : `${label}, ${index + 1}`}
          title={label}
          onClick={() => onPick(one.url)}
          className="relative block aspect-square w-full overflow-hidden rounded-lg border bg-muted hover:ring-2 hover:ring-accent-text"
        >
          <MediaThumbnail media={one} />
        </button>
      </li>
    ));
}
