"use client";
import type { UIMessage } from "ai";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { loadModule } from "../../_load/load-module.ts";

const PAGE_SIZE = 40;
/** The messages above one that was found. */
const CONTEXT_SIZE = 5;

/** A message that a search has found, and the words to mark in it. */
export interface FoundMessage {
  readonly id: string;
  readonly words: string;
}

/**
 * Returns the latest messages of a chat, and more as one scrolls up, without moving what is in view.
 * New messages are added; none that is shown is removed. One that was found is shown and scrolled to.
 */
export function useEarlierMessages(
  messages: readonly UIMessage[],
  scroller: RefObject<HTMLElement | null>,
  found: FoundMessage | null,
) {
  const [count, setCount] = useState(PAGE_SIZE);
  const [known, setKnown] = useState(messages.length);
  const marker = useRef<HTMLDivElement>(null);
  const placeBefore = useRef<{ readonly id: string; readonly top: number } | null>(null);
  const first = Math.max(0, messages.length - count);

  if (messages.length !== known) {
    setKnown(messages.length);
    // The messages of a chat that was just loaded are not new.
    if (known > 0 && messages.length > known) setCount(count + messages.length - known);
  }

  const foundAt = messages.findIndex(({ id }) => id === found?.id);
  const isFound = foundAt >= 0;
  const needed = isFound ? messages.length - Math.max(0, foundAt - CONTEXT_SIZE) : 0;
  if (needed > count) setCount(needed);

  useEffect(() => {
    const message =
      found &&
      isFound &&
      scroller.current?.querySelector(`[data-message="${CSS.escape(found.id)}"]`);
    if (!(message instanceof HTMLElement)) return;
    let leave: (() => void) | null = null;
    let isLeft = false;
    loadModule(() => import("./show-match.ts")).then(
      ({ showMatch }) => {
        if (!isLeft) leave = showMatch(message, found?.words ?? "");
      },
      () => {},
    );
    return () => {
      isLeft = true;
      leave?.();
    };
  }, [found, isFound, scroller]);

  const show = useCallback(
    (more: number) => {
      const first = scroller.current?.querySelector<HTMLElement>("[data-message]");
      placeBefore.current = first
        ? { id: first.dataset.message ?? "", top: first.getBoundingClientRect().top }
        : null;
      setCount((drawn) => drawn + more);
    },
    [scroller],
  );
  // The button doubles the number, so that a long chat is reached in few clicks.
  const showEarlier = useCallback(() => show(count), [show, count]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after more messages were rendered
  useLayoutEffect(() => {
    const box = scroller.current;
    const before = placeBefore.current;
    placeBefore.current = null;
    if (!box || !before) return;
    const moved = box.querySelector(`[data-message="${CSS.escape(before.id)}"]`);
    if (moved) box.scrollTop += moved.getBoundingClientRect().top - before.top;
  }, [first, scroller]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the marker is a new element each time
  useEffect(() => {
    if (!marker.current) return;
    const near = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) show(PAGE_SIZE);
      },
      { root: scroller.current, rootMargin: "600px 0px 0px 0px" },
    );
    near.observe(marker.current);
    return () => near.disconnect();
  }, [first, scroller, show]);

  return { shown: messages.slice(first), hidden: first, marker, showEarlier };
}
