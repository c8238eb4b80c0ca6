"use client";
import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { cn } from "./class-names.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "success" | "danger";
}

/** How long a message is shown. */
const DISPLAY_MS = 6_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}
const dismiss = (id: number): void => set(toasts.filter((one) => one.id !== id));

/** Shows a message at the bottom of the page for a few seconds and announces it to screen readers. */
export function toast(text: string, tone: Toast["tone"] = "success"): void {
  lastId += 1;
  const id = lastId;
  set([...toasts.slice(-2), { id, text, tone }]);
  setTimeout(() => dismiss(id), DISPLAY_MS);
}

const none: readonly Toast[] = [];
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export function Toaster() {
  const shown = useSyncExternalStore(
    subscribe,
    () => toasts,
    () => none,
  );
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2"
    >
      {shown.map(({ id, text, tone }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-sm items-start gap-2.5 rounded-lg border bg-surface py-2.5 pr-2 pl-3 shadow-lg animate-appear"
        >
          {tone === "success" ? (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-success-text" />
          ) : (
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger-text" />
          )}
          <span className={cn("min-w-0 break-words", tone === "danger" && "text-danger-text")}>
            {text}
          </span>
          <button
            type="button"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
            className="grid size-6 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-hover"
          >
            <X aria-hidden className="size-3.5" />
          </button>
        </div>
      ))}
    </div>
  );
}
