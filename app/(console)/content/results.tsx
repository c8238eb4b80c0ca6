"use client";
import { createContext, type ReactNode, useContext } from "react";
import type { TaskRun } from "@/lib/tasks/task-run.ts";

const ResultsContext = createContext<readonly TaskRun[]>([]);

/** Provides the account's content runs, newest first, to the fields that offer them as inputs. */
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
