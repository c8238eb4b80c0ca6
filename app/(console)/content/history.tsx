"use client";
import { useState } from "react";
import { summaryOf } from "@/app/(console)/runs/_state/task-run-state.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { Button } from "../_ui/button.tsx";
import { ResultTile, tilesStyle } from "./result-tile.tsx";

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
              <ResultTile run={run} isChosen={run.id === shownId} />
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
