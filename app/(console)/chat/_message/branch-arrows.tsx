"use client";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import { IconButton } from "../../_ui/button.tsx";
import { useMessageActions } from "./message-actions.ts";

/** "2 / 3": switches between the messages at one place. Nothing for a message that is alone there. */
export function BranchArrows({ messageId }: { readonly messageId: string }) {
  const actions = useMessageActions();
  const ids = actions?.siblings.get(messageId) ?? [];
  const place = ids.indexOf(messageId);
  const group = useRef<HTMLFieldSetElement>(null);
  const nextArrow = actions?.nextArrow;
  const isShown = place >= 0 && ids.length > 1;
  useEffect(() => {
    if (!isShown || nextArrow?.current?.messageId !== messageId) return;
    const arrows = [...(group.current?.querySelectorAll("button") ?? [])];
    const [wanted, other] = nextArrow.current.direction < 0 ? arrows : arrows.reverse();
    nextArrow.current = null;
    // At the end of the row, only the other arrow can still be used.
    (wanted?.disabled ? other : wanted)?.focus({ preventScroll: true });
  }, [isShown, messageId, nextArrow]);
  if (!actions || !isShown) return null;

  const go = (direction: -1 | 1) => {
    const target = ids[place + direction];
    if (target === undefined || actions.isBusy) return;
    actions.nextArrow.current = { messageId: target, direction };
    void actions.branches.choose(target);
  };
  return (
    <fieldset
      ref={group}
      aria-label="Versions of this message"
      className="flex items-center text-xs text-muted-foreground tabular-nums"
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") go(-1);
        if (event.key === "ArrowRight") go(1);
      }}
    >
      <IconButton
        icon={ChevronLeft}
        label="Previous version"
        className="size-6"
        title="Previous version (←)"
        disabled={place === 0 || actions.isBusy}
        onClick={() => go(-1)}
      />
      <span>
        {place + 1} / {ids.length}
      </span>
      <IconButton
        icon={ChevronRight}
        label="Next version"
        className="size-6"
        title="Next version (→)"
        disabled={place === ids.length - 1 || actions.isBusy}
        onClick={() => go(1)}
      />
    </fieldset>
  );
}
