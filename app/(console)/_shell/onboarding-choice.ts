"use client";
import { useSyncExternalStore } from "react";

/** Whether the checklist for new accounts was dismissed in this browser. */
const CHANGE_EVENT = "onboarding";
const keyOf = (email: string): string => `onboarding dismissed ${email}`;

export function dismissChecklist(email: string): void {
  localStorage.setItem(keyOf(email), "1");
  dispatchEvent(new Event(CHANGE_EVENT));
}

/** True until the browser's storage can be read. */
export function useIsChecklistDismissed(email: string): boolean {
  return useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(keyOf(email)) !== null,
    () => true,
  );
}

function subscribe(listener: () => void): () => void {
  addEventListener(CHANGE_EVENT, listener);
  addEventListener("storage", listener);
  return () => {
    removeEventListener(CHANGE_EVENT, listener);
    removeEventListener("storage", listener);
  };
}
