"use client";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { useQuery } from "../_hooks/use-query.ts";
import { Figures } from "../_ui/facts.tsx";
import { Segmented, Select, TextField } from "../_ui/form.tsx";
import { formatCompact, formatCost, formatCount } from "../_ui/format.ts";
import { Loaded, Skeleton } from "../_ui/states.tsx";
import { type Group, METRICS, type Metric, type Report, useNames } from "./_state/groups.ts";
import { type Days, RANGES, readRange, usagePath } from "./_state/range.ts";
import { Breakdown } from "./breakdown.tsx";
import { Budget } from "./budget.tsx";
import { DayChart } from "./day-chart.tsx";

export function UsageReport() {
  const address = useSearchParams();
  const { name, days } = readRange(address, Date.now());
  const query = useQuery<Report>(usagePath(days, { group_by: "day" }));
  const { data } = query;
  const [group, setGroup] = useState<Group>("model");
  const names = useNames(group);
  const [wanted, setWanted] = useState<Metric["value"] | null>(null);
  // Models without a price have tokens to show.
  const metric = wanted ?? (data && !data.totals.cost_usd ? "tokens" : "cost");
  const chosen = METRICS.find(({ value }) => value === metric) ?? (METRICS[0] as Metric);
  const setRange = (next: Readonly<Record<string, string>>) =>
    history.replaceState(null, "", `/usage?${new URLSearchParams(next)}`);
  return (
    <div className="flex flex-col gap-5">
      <Budget />
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div className="flex flex-wrap items-end gap-2">
          <Select
            aria-label="Time"
            className="w-40"
            options={RANGES}
            value={name}
            onChange={(range) =>
              setRange(range === "custom" ? { range, from: days.first, to: days.last } : { range })
            }
          />
          {name === "custom" && (
            <CustomRange
              key={`${days.first} ${days.last}`}
              days={days}
              onChange={({ first, last }) => setRange({ range: "custom", from: first, to: last })}
            />
          )}
        </div>
        <Segmented
          label="Measure"
          hideLabel
          options={METRICS}
          value={metric}
          onChange={setWanted}
        />
      </div>
      <Loaded query={query} loading={<Skeleton className="h-80 rounded-xl" />}>
        {({ totals, items }) => (
          <>
            <Figures
              className="grid-cols-2 sm:grid-cols-4 lg:grid-cols-7"
              figures={[
                ["Cost", formatCost(totals)],
                ["Runs", formatCount(totals.runs)],
                ["Model calls", formatCount(totals.steps)],
                ["Input tokens", formatCompact(totals.input_tokens)],
                ["Output tokens", formatCompact(totals.output_tokens)],
                ["Images", formatCount(totals.images)],
                ["Videos", formatCount(totals.videos)],
              ]}
            />
            {totals.unpriced_calls > 0 && (
              <p className="text-sm text-muted-foreground">
                The price of {formatCount(totals.unpriced_calls)} calls is not known. The cost
                leaves them out.
              </p>
            )}
            <DayChart {...{ days, group, names, items }} metric={chosen} />
          </>
        )}
      </Loaded>
      <Breakdown {...{ days, group, names }} metric={chosen} onGroup={setGroup} />
    </div>
  );
}

interface CustomRangeProps {
  readonly days: Days;
  readonly onChange: (days: Days) => void;
}

/** Two days, taken over when both make a range. */
function CustomRange({ days, onChange }: CustomRangeProps) {
  const [draft, setDraft] = useState(days);
  const isInvalid = draft.first > draft.last;
  const change = (next: Days) => {
    setDraft(next);
    if (next.first !== "" && next.last !== "" && next.first <= next.last) onChange(next);
  };
  return (
    <>
      <TextField
        label="From"
        type="date"
        value={draft.first}
        onChange={(value) => change({ ...draft, first: value })}
      />
      <TextField
        label="To"
        error={isInvalid ? "Choose a day after the first." : undefined}
        type="date"
        value={draft.last}
        onChange={(value) => change({ ...draft, last: value })}
      />
    </>
  );
}
