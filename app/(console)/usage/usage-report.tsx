"use client";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { type Me, useAccount } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { SmallButton } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Figures } from "../_ui/facts.tsx";
import { Segmented, Select, Switch, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { formatCompact, formatCost, formatCount, formatUsd } from "../_ui/format.ts";
import { Page } from "../_ui/page-header.tsx";
import { ErrorState, Loaded, Skeleton } from "../_ui/states.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import { toast } from "../_ui/toast.tsx";
import {
  type Days,
  type Group,
  METRICS,
  type Metric,
  RANGES,
  type Report,
  readRange,
  usagePath,
  useNames,
} from "./_state/groups.ts";
import { Breakdown, DayChart } from "./breakdown.tsx";

function UsageReport() {
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

/** Two days, taken over when both make a range. */
function CustomRange({ days, onChange }: Readonly<{ days: Days; onChange: (days: Days) => void }>) {
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

const RequestLog = lazyComponent(() => import("./_requests/request-log.tsx"), "RequestLog");

/** The account's usage and its requests. The tab and its filters are in the address. */
export function UsagePage() {
  const tab = useSearchParams().get("tab") === "requests" ? "requests" : "usage";
  const show = (next: string) =>
    history.pushState(null, "", next === "requests" ? "/usage?tab=requests" : "/usage");
  return (
    <Page title="Usage" description="Usage, cost and API requests.">
      <Tabs value={tab} onValueChange={show}>
        <TabsList aria-label="Usage or requests">
          <TabsTrigger value="usage">Usage</TabsTrigger>
          <TabsTrigger value="requests">Requests</TabsTrigger>
        </TabsList>
        <TabsContent value="usage">
          <UsageReport />
        </TabsContent>
        <TabsContent value="requests">
          <RequestLog />
        </TabsContent>
      </Tabs>
    </Page>
  );
}

/** From here on the account is warned. */
const WARNING_SHARE = 0.8;

/** The cost of the month so far, and the budget. */
function Budget() {
  const account = useAccount();
  const month = useQuery<Report>("/api/usage?group_by=kind");
  const [isEditing, setIsEditing] = useState(false);
  const error = account.error ?? month.error;
  if (error !== null) return <ErrorState error={error} />;
  if (account.data === undefined || month.data === undefined) {
    return <Skeleton className="h-24 rounded-xl" />;
  }
  const budget = account.data.account.monthly_budget_usd;
  const { totals } = month.data;
  return (
    <section aria-label="Budget" className="rounded-xl border bg-surface px-4 py-3.5">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <p>
          <span className="text-lg font-semibold tabular-nums">{formatCost(totals)}</span>{" "}
          <span className="text-muted-foreground">
            {budget === null
              ? "this month, without a budget"
              : `of ${formatUsd(budget)} this month`}
          </span>
        </p>
        <SmallButton onClick={() => setIsEditing(true)}>
          {budget === null ? "Set budget" : "Edit budget"}
        </SmallButton>
      </div>
      {budget !== null && <Progress spent={totals.cost_usd ?? 0} budget={budget} />}
      {isEditing && (
        <BudgetDialog
          account={account.data.account}
          onClose={() => setIsEditing(false)}
          onSaved={() => {
            setIsEditing(false);
            account.reload();
            toast("Budget saved.");
          }}
        />
      )}
    </section>
  );
}

function Progress({ spent, budget }: { readonly spent: number; readonly budget: number }) {
  const share = budget === 0 ? 1 : spent / budget;
  const percent = Math.min(100, Math.round(share * 100));
  const isSpent = share >= 1;
  return (
    <>
      <div
        role="progressbar"
        aria-label="Spent of the monthly budget"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        className="mt-2.5 h-2 overflow-hidden rounded-full bg-muted"
      >
        <div
          className={cn(
            "h-full rounded-full",
            isSpent ? "bg-danger" : share >= WARNING_SHARE ? "bg-warning-text" : "bg-accent",
          )}
          style={{ width: `${percent}%` }}
        />
      </div>
      {share >= WARNING_SHARE && (
        <p className={cn("mt-2 text-sm", isSpent ? "text-danger-text" : "text-warning-text")}>
          {isSpent
            ? "The budget is spent: nothing new starts until it is raised, or the month ends."
            : `${percent} % of the budget is spent.`}
        </p>
      )}
    </>
  );
}

function BudgetDialog({
  account: { monthly_budget_usd: budget, allow_unpriced_models: allowed },
  onClose,
  onSaved,
}: {
  readonly account: Me["account"];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const form = useForm({ text: budget === null ? "" : String(budget), allowed });
  const { text } = form.values;
  const amount = text.trim() === "" ? null : Number(text);
  const isInvalid = amount !== null && !(amount >= 0 && amount <= 1_000_000_000);
  const onSubmit = async () => {
    if (isInvalid) return;
    const body = { monthly_budget_usd: amount, allow_unpriced_models: form.values.allowed };
    const result = await form.send<Me>("/api/accounts/me", { method: "PATCH", body });
    if (result.ok) onSaved();
  };
  return (
    <FormDialog
      title="Monthly budget"
      description="When a calendar month (UTC) has cost this much, agents stop before their next model call, and no images or videos start."
      submit="Save"
      isComplete={!isInvalid}
      {...{ form, onSubmit, onClose }}
    >
      <TextField
        label="Budget in USD"
        hint="Leave it empty for no budget."
        inputMode="decimal"
        placeholder="50"
        {...form.field("text")}
        error={isInvalid ? "Enter an amount such as 50 or 12.50." : undefined}
      />
      <Switch
        label="Allow models without a known price"
        hint="The budget cannot count what they cost."
        checked={form.values.allowed}
        onChange={(next) => form.set({ allowed: next })}
      />
    </FormDialog>
  );
}
