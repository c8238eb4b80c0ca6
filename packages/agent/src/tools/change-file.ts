import { posix } from "node:path";
import { processWide } from "@platform/kit/process-wide";
import { HOME } from "../show-document.ts";
import type { ToolContext } from "./tool.ts";

/** The last change of each file that is being changed. */
const changes = processWide("file_changes", () => new Map<string, Promise<unknown>>());

/**
 * Runs the changes of a file one after the other: the calls of a step run in parallel, and a change that has read
 * the file before another one was written would undo it.
 */
export async function changeFile<T>(
  { documents }: ToolContext,
  filePath: string,
  change: () => Promise<T>,
): Promise<T> {
  const key = `${documents.accountId} ${posix.resolve(HOME, filePath)}`;
  const running = (changes.get(key) ?? Promise.resolve()).then(change, change);
  changes.set(key, running);
  try {
    return await running;
  } finally {
    if (changes.get(key) === running) changes.delete(key);
  }
}
