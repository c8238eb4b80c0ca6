/**
 * The headless runs that were started in this browser, newest first. The API tells of one by its id
 * and has no list of them. Kept for each person who signs in here; all tabs follow each other.
 */
import { useSyncExternalStore } from "react";

export interface StartedRun {
  readonly runId: string;
  readonly chatId: string;
  readonly sessionId: string;
  readonly prompt: string;
  readonly createdAt: string;
}

const MOST = 30;
/** Enough of a prompt to know the run by. */
const LONGEST_PROMPT = 300;
const EVENT = "headless-runs";

const storageKey = (email: string): string => `headless-runs ${email}`;
const none: readonly StartedRun[] = [];
let read: { text: string | null; runs: readonly StartedRun[] } = { text: null, runs: none };

export function useStartedRuns(email: string): readonly StartedRun[] {
  return useSyncExternalStore(
    subscribe,
    () => startedRuns(email),
    () => none,
  );
}

export function rememberRun(email: string, run: StartedRun): void {
  const prompt = run.prompt.slice(0, LONGEST_PROMPT);
  keep(email, [{ ...run, prompt }, ...startedRuns(email)].slice(0, MOST));
}

export function forgetRun(email: string, runId: string): void {
  const runs = startedRuns(email).filter((run) => run.runId !== runId);
  keep(email, runs);
}

function startedRuns(email: string): readonly StartedRun[] {
  const text = localStorage.getItem(storageKey(email));
  if (text !== read.text) read = { text, runs: parse(text) };
  return read.runs;
}

function parse(text: string | null): readonly StartedRun[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isStartedRun) : none;
  } catch {
    return none;
  }
}

function isStartedRun(value: unknown): value is StartedRun {
  if (typeof value !== "object" || value === null) return false;
  const fields = ["runId", "chatId", "sessionId", "prompt", "createdAt"];
  const entries = new Map(Object.entries(value));
  return fields.every((field) => typeof entries.get(field) === "string");
}

function keep(email: string, runs: readonly StartedRun[]): void {
  try {
    localStorage.setItem(storageKey(email), JSON.stringify(runs));
  } catch {
    // The storage is full or forbidden: the run goes on without being listed here.
  }
  dispatchEvent(new Event(EVENT));
}

function subscribe(listener: () => void): () => void {
  addEventListener(EVENT, listener);
  addEventListener("storage", listener);
  return () => {
    removeEventListener(EVENT, listener);
    removeEventListener("storage", listener);
  };
}
