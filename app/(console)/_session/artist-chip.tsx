import type { RefObject } from "react";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { cn } from "../_ui/class-names.ts";
import { X } from "../_ui/icons.tsx";
import { chooseArtist, useScope } from "./scope.ts";

interface ArtistChipProps {
  /** Receives the focus after the chip is removed. */
  readonly next: RefObject<HTMLElement | null>;
  readonly className?: string;
}

/** Shows the artist of the switcher, for which new work is and to which a list is limited; nothing for all artists. */
export function ArtistChip({ next, className }: ArtistChipProps) {
  const { artist } = useScope();
  if (artist === null) return null;
  return (
    <p
      className={cn(
        "inline-flex max-w-full items-center gap-1.5 rounded-full border bg-surface py-0.5 pr-0.5 pl-1 text-sm",
        className,
      )}
    >
      <span className="size-5 shrink-0">
        <LazyCover seed={artist.seed} round className="w-full" />
      </span>
      <span className="min-w-0 truncate">
        <span className="text-muted-foreground">For </span>
        {artist.name}
      </span>
      <button
        type="button"
        aria-label="Work for all artists"
        title="Work for all artists"
        onClick={() => {
          chooseArtist(null);
          next.current?.focus();
        }}
        className="grid size-6 shrink-0 place-items-center rounded-full text-muted-foreground hover:bg-hover hover:text-foreground"
      >
        <X aria-hidden className="size-3.5" />
      </button>
    </p>
  );
}

/** `Cover` for every page, whose code is loaded when an artist was chosen. Its place needs a size. */
export const LazyCover = lazyComponent(() => import("../_ui/cover.tsx"), "Cover");
