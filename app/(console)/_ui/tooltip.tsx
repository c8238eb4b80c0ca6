"use client";
import { Tooltip as Base } from "radix-ui";
import type { ReactNode } from "react";

/** A few words about one control. Never the only place where something is said. */
export function Tooltip({
  text,
  children,
}: {
  readonly text: string;
  readonly children: ReactNode;
}) {
  return (
    <Base.Provider delayDuration={350}>
      <Base.Root>
        <Base.Trigger asChild>{children}</Base.Trigger>
        <Base.Portal>
          <Base.Content
            sideOffset={6}
            collisionPadding={8}
            className="z-50 max-w-72 rounded-md bg-foreground px-2 py-1 text-sm text-background shadow-md"
          >
            {text}
          </Base.Content>
        </Base.Portal>
      </Base.Root>
    </Base.Provider>
  );
}
