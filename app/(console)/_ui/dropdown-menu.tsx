"use client";
import { DropdownMenu as Base } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names.ts";

/** `trigger` is one button; the children are `MenuItem`s and `MenuSeparator`s. */
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
        <Base.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-40 rounded-lg border bg-surface p-1 shadow-lg animate-appear"
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
