"use client";
import {
  createContext,
  type ReactNode,
  startTransition,
  useCallback,
  useContext,
  useMemo,
  useState,
} from "react";
import { createPortal } from "react-dom";

const SlotContext = createContext<{
  readonly place: HTMLElement | null;
  readonly setPlace: (place: HTMLElement | null) => void;
}>({ place: null, setPlace: () => {} });

export function SidebarSlotProvider({ children }: { readonly children: ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  // In a transition: otherwise the page would be hydrated in one piece with the page's content.
  const choose = useCallback(
    (next: HTMLElement | null) => startTransition(() => setPlace(next)),
    [],
  );
  const value = useMemo(() => ({ place, setPlace: choose }), [place, choose]);
  return <SlotContext value={value}>{children}</SlotContext>;
}

/** The place for a page's own content in the sidebar, or in the drawer while that is open. */
export function SidebarSlot() {
  const { setPlace } = useContext(SlotContext);
  return <div ref={setPlace} className="flex min-h-0 flex-1 flex-col has-[*]:min-h-48" />;
}

/** Renders a page's content below the main navigation. It gets the remaining height and must scroll by itself. */
export function SidebarContent({ children }: { readonly children: ReactNode }) {
  const { place } = useContext(SlotContext);
  return place === null ? null : createPortal(children, place);
}
