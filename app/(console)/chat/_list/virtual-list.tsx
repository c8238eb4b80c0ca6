import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";

const MARGIN = 400;
const FIRST_HEIGHT = 1_000;
const NEAR_END = 15;

interface VirtualListProps<R> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly heightOf: (row: R) => number;
  /** Called when the end comes near; null when there is nothing more to load. */
  readonly onNearEnd: (() => void) | null;
  readonly children: ReactNode;
  readonly render: (row: R) => ReactNode;
}

/**
 * A list that renders only the rows in view and the focused one. Row heights are known in advance;
 * a library that measures them would add a twentieth to the script of the chat.
 */
export function VirtualList<R extends { readonly key: string }>(props: VirtualListProps<R>) {
  const { label, rows, heightOf, onNearEnd, children, render } = props;
  const scroller = useRef<HTMLElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const [view, setView] = useState({ top: 0, bottom: FIRST_HEIGHT });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () =>
      setView({ top: element.scrollTop, bottom: element.scrollTop + element.clientHeight });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const { places, total } = useMemo(() => {
    let start = 0;
    const placed = rows.map((row) => {
      const height = heightOf(row);
      start += height;
      return { row, height, start: start - height };
    });
    return { places: placed, total: start };
  }, [rows, heightOf]);
  const isInView = ({ start, height }: { readonly start: number; readonly height: number }) =>
    start + height > view.top - MARGIN && start < view.bottom + MARGIN;
  const lastShown = places.findLastIndex(isInView);
  const isNearEnd = lastShown >= 0 && lastShown >= rows.length - NEAR_END;
  // Asks again for each number of rows, because a page may be short.
  const endNear = isNearEnd ? rows.length : 0;
  useEffect(() => {
    if (endNear > 0) onNearEnd?.();
  }, [endNear, onNearEnd]);
  return (
    <nav
      ref={scroller}
      aria-label={label}
      className="min-h-0 flex-1 overflow-y-auto px-2 pb-3 [scrollbar-gutter:stable]"
    >
      {/* On the server there are none: the policy of the page refuses styles in its HTML. */}
      {rows.length > 0 && (
        <ul className="relative" style={{ height: total }}>
          {places
            .filter((place) => isInView(place) || place.row.key === focused)
            .map(({ row, start, height }) => (
              <li
                key={row.key}
                className="absolute inset-x-0 top-0"
                style={{ height, transform: `translateY(${start}px)` }}
                onFocus={() => setFocused(row.key)}
                onBlur={() => setFocused(null)}
              >
                {render(row)}
              </li>
            ))}
        </ul>
      )}
      {children}
    </nav>
  );
}
