"use client";
import { DropdownMenu as Base } from "radix-ui";
import { type ComponentProps, type ReactNode, type RefObject, useRef } from "react";
import { cn } from "./class-names.ts";

const contentStyle = "z-50 min-w-40 rounded-lg border bg-surface p-1 shadow-lg animate-appear";

/** A menu opened by the button `trigger`. Its children are `MenuItem`s and `MenuSeparator`s. */
export function DropdownMenu({
  trigger,
  align = "end",
  children,
}: {
  readonly trigger: ReactNode;
  readonly align?: "start" | "center" | "end";
  readonly children: ReactNode;
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger asChild>{trigger}</Base.Trigger>
      <Base.Portal>
        <Base.Content align={align} sideOffset={4} collisionPadding={8} className={contentStyle}>
          {children}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

/**
 * A menu for a button that is rendered before the code of this menu is loaded. The button is not the
 * trigger: it controls `open` and has its own ARIA attributes.
 */
export function AnchoredMenu({
  label,
  button,
  openedByKey,
  open,
  onOpenChange,
  children,
}: {
  readonly label: string;
  readonly button: RefObject<HTMLButtonElement | null>;
  /** True if a key opened the menu, maybe before this code was loaded; its first item then gets the focus. */
  readonly openedByKey: RefObject<boolean>;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly children: ReactNode;
}) {
  const wasLeft = useRef(false);
  return (
    <Base.Root modal={false} open={open} onOpenChange={onOpenChange}>
      <Base.Trigger asChild>
        <span aria-hidden tabIndex={-1} className="pointer-events-none absolute right-0.5 size-7" />
      </Base.Trigger>
      <Base.Portal>
        <Base.Content
          aria-label={label}
          aria-labelledby={undefined}
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className={contentStyle}
          onFocus={({ target, currentTarget }) => {
            if (!openedByKey.current || target !== currentTarget) return;
            openedByKey.current = false;
            currentTarget.querySelector<HTMLElement>('[role^="menuitem"]')?.focus();
          }}
          onInteractOutside={(event) => {
            // The button closes the menu by itself. If the menu closed first, the click would open it again.
            if (event.target instanceof Node && button.current?.contains(event.target)) {
              event.preventDefault();
            } else wasLeft.current = true;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (!wasLeft.current) button.current?.focus();
            wasLeft.current = false;
          }}
        >
          {children}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({
  danger = false,
  className,
  ...rest
}: ComponentProps<typeof Base.Item> & { readonly danger?: boolean }) {
  return (
    <Base.Item
      {...rest}
      className={cn(
        "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-base outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:text-muted-foreground",
        danger && "text-danger-text data-highlighted:bg-danger-soft [&_svg]:text-danger-text",
        className,
      )}
    />
  );
}

export function MenuSeparator() {
  return <Base.Separator className="-mx-1 my-1 h-px bg-border" />;
}
