/**
 * The headless runs that were started in this browser, newest first, in local storage: the API returns
 * a run by its id but does not list runs. There is one list for each email address, shared by all tabs.
 */
import { useSyncExternalStore } from "react";

export interface StartedRun {
  readonly runId: string;
  readonly chatId: string;
  readonly sessionId: string;
  readonly prompt: string;
  readonly createdAt: string;
}

const MAX_RUNS = 30;
/** Enough of the prompt to recognize the run. */
const MAX_PROMPT_LENGTH = 300;
const CHANGE_EVENT = "headless-runs";

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
  const prompt = run.prompt.slice(0, MAX_PROMPT_LENGTH);
  save(email, [{ ...run, prompt }, ...startedRuns(email)].slice(0, MAX_RUNS));
}

export function forgetRun(email: string, runId: string): void {
  const runs = startedRuns(email).filter((run) => run.runId !== runId);
  save(email, runs);
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

function save(email: string, runs: readonly StartedRun[]): void {
  try {
    localStorage.setItem(storageKey(email), JSON.stringify(runs));
  } catch {
    // Storage is full or blocked. The run continues without being listed here.
  }
  dispatchEvent(new Event(CHANGE_EVENT));
}

function subscribe(listener: () => void): () => void {
  addEventListener(CHANGE_EVENT, listener);
  addEventListener("storage", listener);
  return () => {
    removeEventListener(CHANGE_EVENT, listener);
    removeEventListener("storage", listener);
  };
}
