"use client";
import { usePathname } from "next/navigation";
import { useEffect, useSyncExternalStore } from "react";
import { IconButton } from "./button.tsx";
import { cn } from "./class-names.ts";
import { CircleAlert, CircleCheck, X } from "./icons.tsx";
import { TextLink } from "./link.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "success" | "danger";
  readonly link: ToastLink | undefined;
}

type ToastLink = Readonly<{ label: string; href: string }>;

const DISPLAY_MS = 6_000;
const DISPLAY_WITH_LINK_MS = 20_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}
const dismiss = (id: number): void => set(toasts.filter((one) => one.id !== id));

/** Shows a message at the bottom of the page for a few seconds and announces it to screen readers. */
export function toast(text: string, tone: Toast["tone"] = "success", link?: ToastLink): void {
  lastId += 1;
  const id = lastId;
  set([...toasts.slice(-2), { id, text, tone, link }]);
  setTimeout(() => dismiss(id), link ? DISPLAY_WITH_LINK_MS : DISPLAY_MS);
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
  const path = usePathname();
  useEffect(() => {
    // The page that it leads to is open.
    for (const { id, link } of shown) if (link?.href === path) dismiss(id);
  }, [shown, path]);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2"
    >
      {shown.map(({ id, text, tone, link }) => (
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
            {text}{" "}
            {link && (
              <TextLink
                href={link.href}
                onClick={() => dismiss(id)}
                className="font-medium whitespace-nowrap"
              >
                {link.label}
              </TextLink>
            )}
          </span>
          <IconButton label="Dismiss" className="size-6" onClick={() => dismiss(id)}>
            <X aria-hidden />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
