"use client";
import type { getUsageContract } from "@/lib/usage/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { Figures } from "../../_ui/facts.tsx";
import { formatCompact, formatCost, formatCount, formatUsd } from "../../_ui/format.ts";
import { Skeleton } from "../../_ui/states.tsx";

/** What the account has used for the artist since the start of the month. */
export function ArtistUsage({ id }: { readonly id: string }) {
  const { data, error } = useQuery<Answer<typeof getUsageContract>>("/api/usage?group_by=artist");
  // The page is about more than its figures.
  if (error !== null) return null;
  const used = data?.items.find(({ key }) => key === id);
  const shown = (amount: string) =>
    data === undefined ? <Skeleton className="h-6 w-12" /> : amount;
  return (
    <section aria-label="Usage this month" className="mb-6">
      <Figures
        className="grid-cols-2 sm:grid-cols-4"
        figures={[
          ["Runs", shown(formatCount(used?.runs ?? 0))],
          ["Tokens", shown(formatCompact((used?.input_tokens ?? 0) + (used?.output_tokens ?? 0)))],
          ["Cost", shown(used ? formatCost(used) : formatUsd(0))],
          ["Images and videos", shown(formatCount((used?.images ?? 0) + (used?.videos ?? 0)))],
        ]}
      />
      <p className="mt-1.5 text-xs text-muted-foreground">Since the start of the month (UTC)</p>
    </section>
  );
}
