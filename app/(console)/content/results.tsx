"use client";
import { createContext, type ReactNode, useContext } from "react";
import type { TaskRun } from "@/lib/tasks/task-run.ts";

const ResultsContext = createContext<readonly TaskRun[]>([]);

/** The account's content runs, newest first, for what lets one choose among their results. */
export function ResultsProvider({
  runs,
  children,
}: {
  readonly runs: readonly TaskRun[];
  readonly children: ReactNode;
}) {
  return <ResultsContext value={runs}>{children}</ResultsContext>;
}

export const useResults = (): readonly TaskRun[] => useContext(ResultsContext);
