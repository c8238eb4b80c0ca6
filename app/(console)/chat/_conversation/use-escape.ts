"use client";
import { useEffect } from "react";

/** Calls `action` on Escape, unless a dialog or a menu handles the key. Null disables it. */
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
