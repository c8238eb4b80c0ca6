import type { Sheet } from "@platform/documents/document";
import { useEffect, useMemo, useRef, useState } from "react";
import { ArrowDown, ArrowUp } from "../_ui/icons.tsx";
import { keyed } from "../_ui/keyed.ts";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { readCsv, sortRows } from "./csv-table.ts";

const ROW_HEIGHT = 32;
const RENDERED_ROWS = 80;
/** Rows that are rendered above those in view. */
const MARGIN_ROWS = 20;
const MAX_CELL_CHARS = 500;

interface TableViewProps {
  readonly sheet: Pick<Sheet, "name" | "csv">;
  /** The row that is shown first, from 1. */
  readonly row: number;
}

/** A table of CSV, of which only the rows near those in view are rendered. */
export function TableView({ sheet: { name: label, csv }, row }: TableViewProps) {
  const table = useMemo(() => readCsv(csv), [csv]);
  const [sorted, setSorted] = useState({ by: -1, isDescending: false, order: new Uint32Array() });
  const [top, setTop] = useState(0);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (row > 1) box.current?.scrollTo({ top: (row - 4) * ROW_HEIGHT });
  }, [row]);
  const count = Math.max(0, table.rowCount - 1);
  const first = Math.max(0, Math.min(Math.floor(top / ROW_HEIGHT) - MARGIN_ROWS, count));
  const last = Math.min(count, first + RENDERED_ROWS);
  const sort = (by: number) => {
    const isDescending = sorted.by === by && !sorted.isDescending;
    setSorted({ by, isDescending, order: sortRows(table, by, isDescending) });
  };
  const names = table.cellsOf(0);
  const Direction = sorted.isDescending ? ArrowDown : ArrowUp;
  return (
    <ScrollBox
      ref={box}
      label={label}
      className="min-h-0 flex-1 rounded-none"
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <table
        aria-rowcount={table.rowCount}
        className="w-max min-w-full table-fixed border-separate border-spacing-0 text-left text-sm tabular-nums"
      >
        <thead className="sticky top-0 bg-muted text-xs">
          <tr className="h-8">
            <th scope="col" className="w-16 border-b px-2 text-muted-foreground">
              Row
            </th>
            {keyed(table.widths).map(({ key, item }, column) => (
              <th
                key={key}
                scope="col"
                style={{ width: `${item}ch` }}
                {...(sorted.by === column && {
                  "aria-sort": sorted.isDescending ? "descending" : "ascending",
                })}
                className="border-b"
              >
                <button
                  type="button"
                  onClick={() => sort(column)}
                  className="flex h-8 w-full items-center gap-1 px-2 hover:bg-hover"
                >
                  <span className="truncate">{names[column] || `Column ${column + 1}`}</span>
                  {sorted.by === column && <Direction aria-hidden className="size-3 shrink-0" />}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="[&_td]:truncate [&_td]:border-b [&_td]:px-2">
          {first > 0 && <tr aria-hidden style={{ height: first * ROW_HEIGHT }} />}
          {Array.from({ length: last - first }, (_, at) => {
            const place = sorted.order[first + at] ?? first + at + 1;
            const cells = table.cellsOf(place);
            return (
              <tr
                key={place}
                aria-rowindex={place + 1}
                {...(place + 1 === row && { "aria-current": true })}
                className="h-8 aria-[current]:bg-accent-soft"
              >
                <td className="text-xs text-muted-foreground">{place + 1}</td>
                {keyed(table.widths).map(({ key }, column) => (
                  <td key={key} title={cells[column]?.slice(0, MAX_CELL_CHARS)}>
                    {cells[column]?.slice(0, MAX_CELL_CHARS)}
                  </td>
                ))}
              </tr>
            );
          })}
          {last < count && <tr aria-hidden style={{ height: (count - last) * ROW_HEIGHT }} />}
        </tbody>
      </table>
    </ScrollBox>
  );
}
