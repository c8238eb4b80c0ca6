import { titleOf } from "@/app/(console)/content/content-result.ts";
import { stateOf } from "@/app/(console)/runs/_state/task-run-state.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { cn } from "../_ui/class-names.ts";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { ResultThumbnail } from "./result-thumbnail.tsx";

/** The grid of such tiles. */
export const tilesStyle = "grid grid-cols-[repeat(auto-fill,minmax(7.5rem,1fr))] gap-3";

/** A run as a thumbnail with its kind and its age or status, inside of a button or a link. */
export function ResultTile({
  run,
  isChosen = false,
}: {
  readonly run: TaskRun;
  readonly isChosen?: boolean;
}) {
  const { tone, label } = stateOf(run.status);
  return (
    <>
      <span
        className={cn(
          "relative block aspect-square overflow-hidden rounded-lg border bg-muted",
          isChosen && "ring-2 ring-accent-text",
        )}
      >
        <ResultThumbnail run={run} />
      </span>
      <span className="mt-1 block truncate text-sm">{titleOf(run)}</span>
      <span className="block truncate text-xs text-muted-foreground">
        {tone === "success" ? <RelativeTime date={run.createdAt} /> : label}
      </span>
    </>
  );
}
