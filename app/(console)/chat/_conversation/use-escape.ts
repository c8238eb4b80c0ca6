"use client";
import { useEffect } from "react";

/** Escape, unless a dialog or a menu takes it for itself. Null: nothing to do. */
export function useEscape(action: (() => void) | null): void {
  useEffect(() => {
    if (action === null) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) action();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [action]);
}
