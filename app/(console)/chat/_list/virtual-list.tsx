"use client";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";

const OVERSCAN = 8;
/** How many rows before the end the next page is asked for. */
const NEAR_END = 15;

/** A list of which only the rows in view are rendered, and the one that has the focus. */
export function VirtualList<R extends { readonly key: string }>({
  label,
  rows,
  heightOf,
  onNearEnd,
  children,
  render,
}: {
  readonly label: string;
  readonly rows: readonly R[];
  readonly heightOf: (row: R | undefined) => number;
  /** Called when the end comes near; null when there is nothing more to load. */
  readonly onNearEnd: (() => void) | null;
  /** What follows the rows. */
  readonly children: ReactNode;
  readonly render: (row: R) => ReactNode;
}) {
  const scroller = useRef<HTMLElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN,
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range);
      const kept = focused === null ? -1 : rows.findIndex(({ key }) => key === focused);
      return kept < 0 ? indexes : [...new Set([...indexes, kept])].sort((a, b) => a - b);
    },
  });
  const items = virtualizer.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? -1;
  const isNearEnd = lastShown >= 0 && lastShown >= rows.length - NEAR_END;
  // Asks again for each number of rows, because a page may be short.
  const endNear = isNearEnd ? rows.length : 0;
  useEffect(() => {
    if (endNear > 0) onNearEnd?.();
  }, [endNear, onNearEnd]);
  // The heights of rows depend on what they are.
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again for other rows
  useEffect(() => virtualizer.measure(), [rows, virtualizer]);
  return (
    <nav
      ref={scroller}
      aria-label={label}
      className="min-h-0 flex-1 overflow-y-auto px-2 pb-3 [scrollbar-gutter:stable]"
    >
      <ul className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, key, start, size }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <li
              key={key}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
              onFocus={() => setFocused(row.key)}
              onBlur={() => setFocused(null)}
            >
              {render(row)}
            </li>
          );
        })}
      </ul>
      {children}
    </nav>
  );
}
