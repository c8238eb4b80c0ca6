"use client";
import { useSyncExternalStore } from "react";

/** What a browser remembers of the checklist for new accounts: steps that the server does not know of, and its end. */
const CHANGE_EVENT = "onboarding";
const keyOf = (email: string, name: string): string => `onboarding ${name} ${email}`;

export function remember(email: string, name: "dismissed" | "upload"): void {
  localStorage.setItem(keyOf(email, name), "1");
  dispatchEvent(new Event(CHANGE_EVENT));
}

/** Returns whether it was remembered; true until the browser's storage can be read. */
export function useRemembered(email: string, name: "dismissed" | "upload"): boolean {
  return useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(keyOf(email, name)) !== null,
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
