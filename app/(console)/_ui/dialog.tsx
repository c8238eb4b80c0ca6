"use client";
import { X } from "lucide-react";
import { Dialog as Base } from "radix-ui";
import { type ReactNode, type RefObject, useRef } from "react";
import { cn } from "./class-names.ts";
import { firstControl } from "./first-control.ts";
import { useFocusReturn } from "./use-focus-return.ts";

export const DialogClose = Base.Close;

/** A modal dialog. It is controlled by `open` and `onOpenChange`, or opened by `trigger`. */
export function Dialog({
  title,
  description,
  trigger,
  open,
  onOpenChange,
  role = "dialog",
  className,
  initialFocus,
  children,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly trigger?: ReactNode;
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
  /** An alert dialog has its description read aloud as it opens. */
  readonly role?: "dialog" | "alertdialog";
  readonly className?: string;
  /** What has the focus when the dialog opens, in place of its first field or its primary action. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}) {
  const focus = useFocusReturn();
  const body = useRef<HTMLDivElement>(null);
  return (
    <Base.Root
      {...(open === undefined ? {} : { open })}
      {...(onOpenChange === undefined ? {} : { onOpenChange })}
    >
      {trigger !== undefined && <Base.Trigger asChild>{trigger}</Base.Trigger>}
      <Base.Portal>
        <Base.Overlay className="fixed inset-0 z-40 bg-black/45 backdrop-blur-[1px]" />
        <Base.Content
          role={role}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
          onOpenAutoFocus={(event) => {
            focus.onOpenAutoFocus();
            event.preventDefault();
            const target = initialFocus?.current ?? firstControl(body.current);
            (target ?? body.current)?.focus({ preventScroll: true });
          }}
          {...(trigger === undefined ? { onCloseAutoFocus: focus.onCloseAutoFocus } : {})}
          className={cn(
            "fixed top-[12vh] left-1/2 z-50 max-h-[80vh] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 overflow-y-auto rounded-xl border bg-surface p-5 shadow-xl animate-appear max-sm:top-4 max-sm:max-h-[calc(100dvh-2rem)]",
            className,
          )}
        >
          <div className="flex items-start justify-between gap-4">
            <Base.Title className="text-lg font-semibold break-words">{title}</Base.Title>
            <Base.Close
              aria-label="Close"
              className="-mt-1 -mr-1 grid size-7 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-hover"
            >
              <X aria-hidden className="size-4" />
            </Base.Close>
          </div>
          {description !== undefined && (
            <Base.Description asChild>
              <div className="mt-1 text-muted-foreground">{description}</div>
            </Base.Description>
          )}
          <div ref={body} tabIndex={-1} className="mt-4 outline-none">
            {children}
          </div>
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog, in view however long it is; the last one is the primary action. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return (
    <div
      data-dialog-actions
      className="sticky -bottom-5 -mx-5 mt-2 -mb-5 flex flex-wrap justify-end gap-2 rounded-b-xl bg-surface px-5 pt-3 pb-5"
    >
      {children}
    </div>
  );
}
