"use client";
import { useRef } from "react";

/**
 * Returns handlers for a dialog without a trigger: what had the focus before gets it back. Radix gives it to
 * the trigger only.
 */
export function useFocusReturn() {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus: () => {
      before.current = document.activeElement;
    },
    onCloseAutoFocus: (event: Event) => {
      const element = before.current;
      // Some browsers do not focus a button that is clicked.
      if (!(element instanceof HTMLElement) || element === document.body) return;
      if (!element.isConnected) return;
      event.preventDefault();
      element.focus({ preventScroll: true });
    },
  };
}
