"use client";
import { type FormEvent, useState } from "react";
import { type Me, useAccount } from "@/app/(console)/_hooks/shared-reads.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { useSubmit } from "@/app/(console)/_hooks/use-submit.ts";
import { formatCost, formatUsd } from "@/app/(console)/_ui/format-number.ts";
import type { Report } from "@/app/(console)/usage/_state/metrics.ts";
import { Button } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Dialog, DialogActions, DialogClose } from "../_ui/dialog.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { Switch } from "../_ui/switch.tsx";
import { toast } from "../_ui/toast.tsx";

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
  const [text, setText] = useState(budget === null ? "" : String(budget));
  const [allowsUnpriced, setAllowsUnpriced] = useState(allowed);
  const { send, busy, error } = useSubmit<Me>();
  const amount = text.trim() === "" ? null : Number(text);
  const isInvalid = amount !== null && !(amount >= 0 && amount <= 1_000_000_000);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (isInvalid) return;
    const body = { monthly_budget_usd: amount, allow_unpriced_models: allowsUnpriced };
    const result = await send("/api/accounts/me", { method: "PATCH", body });
    if (result.ok) onSaved();
  };
  return (
    <Dialog
      title="Monthly budget"
      description="When a calendar month (UTC) has cost this much, agents stop before their next model call, and no images or videos start."
      open
      onOpenChange={(open) => !open && onClose()}
    >
      <form noValidate onSubmit={(event) => void save(event)} className="flex flex-col gap-4">
        {error !== null && <ErrorState error={error} />}
        <Field
          label="Budget in USD"
          hint="Leave it empty for no budget."
          error={isInvalid ? "Enter an amount such as 50 or 12.50." : undefined}
        >
          {(ids) => (
            <Input
              {...ids}
              inputMode="decimal"
              placeholder="50"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <Switch
          label="Allow models without a known price"
          hint="The budget cannot count what they cost."
          checked={allowsUnpriced}
          onChange={setAllowsUnpriced}
        />
        <DialogActions>
          <DialogClose asChild>
            <Button variant="outline">Cancel</Button>
          </DialogClose>
          <Button type="submit" busy={busy} disabled={isInvalid}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
