"use client";
import { X } from "lucide-react";
import { Dialog as Base } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { useFocusReturn } from "./use-focus-return.ts";

/** A panel for details at the right edge, as wide as the screen on a phone. */
export function Sheet({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const focus = useFocusReturn();
  const body = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Base.Content
          onOpenAutoFocus={(event) => {
            focus.onOpenAutoFocus();
            event.preventDefault();
            // The arrow keys scroll the details.
            body.current?.focus({ preventScroll: true });
          }}
          onCloseAutoFocus={focus.onCloseAutoFocus}
          aria-describedby={undefined}
          className="fixed inset-y-0 right-0 z-50 flex w-full max-w-xl flex-col border-l bg-surface shadow-xl animate-appear"
        >
          <div className="flex h-13 shrink-0 items-center justify-between gap-4 border-b px-5">
            <Base.Title className="min-w-0 truncate font-semibold">{title}</Base.Title>
            <Base.Close
              aria-label="Close"
              className="-mr-1 grid size-8 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-hover"
            >
              <X aria-hidden className="size-4" />
            </Base.Close>
          </div>
          <div
            ref={body}
            tabIndex={-1}
            className="min-h-0 flex-1 overflow-y-auto px-5 py-5 outline-none"
          >
            {children}
          </div>
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}
