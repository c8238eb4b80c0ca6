"use client";
import { ChartColumn, Table as TableIcon } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../_ui/button.tsx";
import { Table } from "../_ui/table.tsx";

/** A chart, which can be read as a table. */
export function ChartCard({
  title,
  note,
  actions,
  chart,
  table,
}: {
  readonly title: string;
  readonly note?: string;
  readonly actions?: ReactNode;
  readonly chart: ReactNode;
  /** The head and the body of the table. */
  readonly table: ReactNode;
}) {
  const [isTable, setIsTable] = useState(false);
  const Icon = isTable ? ChartColumn : TableIcon;
  return (
    <section aria-label={title} className="rounded-xl border bg-surface p-4">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <h2 className="font-medium">
          {title} {note && <span className="text-sm text-muted-foreground">({note})</span>}
        </h2>
        <div className="flex flex-wrap items-center gap-2">
          {actions}
          <Button variant="ghost" size="sm" onClick={() => setIsTable(!isTable)}>
            <Icon aria-hidden />
            {isTable ? "View as chart" : "View as table"}
          </Button>
        </div>
      </div>
      {isTable ? (
        <div className="max-h-72 overflow-y-auto">
          <Table label={`${title}, table`}>{table}</Table>
        </div>
      ) : (
        chart
      )}
    </section>
  );
}
