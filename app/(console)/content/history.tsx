"use client";
import { useState } from "react";
import { titleOf } from "@/app/(console)/content/content-result.ts";
import { stateOf, summaryOf } from "@/app/(console)/runs/_state/task-run-state.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { Button } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { ResultThumbnail } from "./result-thumbnail.tsx";

const INITIAL_COUNT = 12;

/** The earlier results, newest first. */
export function History({
  runs,
  shownId,
  onSelect,
}: {
  readonly runs: readonly TaskRun[];
  readonly shownId: string | null;
  readonly onSelect: (runId: string) => void;
}) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? runs : runs.slice(0, INITIAL_COUNT);
  return (
    <section aria-label="History">
      <h2 className="mb-2 text-sm font-medium text-muted-foreground">History</h2>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(7.5rem,1fr))] gap-3">
        {shown.map((run) => (
          <li key={run.id} className="min-w-0">
            <button
              type="button"
              aria-pressed={run.id === shownId}
              title={summaryOf(run) ?? undefined}
              onClick={() => onSelect(run.id)}
              className="block w-full rounded-lg text-left"
            >
              <span
                className={cn(
                  "relative block aspect-square overflow-hidden rounded-lg border bg-muted",
                  run.id === shownId && "ring-2 ring-accent-text",
                )}
              >
                <ResultThumbnail run={run} />
              </span>
              <span className="mt-1 block truncate text-sm">{titleOf(run)}</span>
              <span className="block truncate text-xs text-muted-foreground">
                {stateOf(run.status).tone === "success" ? (
                  <RelativeTime date={run.createdAt} />
                ) : (
                  stateOf(run.status).label
                )}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {!showsAll && runs.length > INITIAL_COUNT && (
        <div className="mt-4 text-center">
          <Button variant="outline" size="sm" onClick={() => setShowsAll(true)}>
            Show all {runs.length}
          </Button>
        </div>
      )}
    </section>
  );
}
