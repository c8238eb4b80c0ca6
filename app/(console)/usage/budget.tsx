"use client";
import { useState } from "react";
import { type Me, useAccount } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Switch, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { formatCost, formatUsd } from "../_ui/format.ts";
import { ErrorState, Skeleton } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import type { Report } from "./_state/groups.ts";

/** From here on the account is warned. */
const WARNING_SHARE = 0.8;

/** What the month has cost so far, and what it may cost. */
export function Budget() {
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
        <Button variant="outline" size="sm" onClick={() => setIsEditing(true)}>
          {budget === null ? "Set budget" : "Edit budget"}
        </Button>
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
  const save = async () => {
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
      form={form}
      isComplete={!isInvalid}
      onSubmit={save}
      onClose={onClose}
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
