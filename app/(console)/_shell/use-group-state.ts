"use client";
import { useSyncExternalStore } from "react";

/** Windows in which the navigation would leave too little room for the list of chats. */
const LOW_WINDOW = "(min-width: 768px) and (max-height: 790px)";
const CHANGE_EVENT = "navigation";
const keyOf = (label: string): string => `navigation ${label}`;

/** Whether a group of the navigation is open: as it was left in this browser, or else if there is room. */
export function useGroupState(label: string) {
  const isOpen = useSyncExternalStore(
    subscribe,
    () => {
      const left = localStorage.getItem(keyOf(label));
      return left === null ? !matchMedia(LOW_WINDOW).matches : left === "open";
    },
    () => true,
  );
  const setOpen = (open: boolean) => {
    localStorage.setItem(keyOf(label), open ? "open" : "folded");
    dispatchEvent(new Event(CHANGE_EVENT));
  };
  return { isOpen, setOpen };
}

function subscribe(listener: () => void): () => void {
  const media = matchMedia(LOW_WINDOW);
  media.addEventListener("change", listener);
  addEventListener(CHANGE_EVENT, listener);
  addEventListener("storage", listener);
  return () => {
    media.removeEventListener("change", listener);
    removeEventListener(CHANGE_EVENT, listener);
    removeEventListener("storage", listener);
  };
}
