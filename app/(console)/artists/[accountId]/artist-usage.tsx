"use client";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatUsd,
} from "@/app/(console)/_ui/format-number.ts";
import type { getUsageContract } from "@/lib/usage/contract.ts";
import { Figures } from "../../_ui/figures.tsx";
import { Skeleton } from "../../_ui/skeleton.tsx";

type Report = z.output<(typeof getUsageContract)["responses"][200]["schema"]>;

/** What the account has used for the artist since the start of the month. */
export function ArtistUsage({ id }: { readonly id: string }) {
  const { data, error } = useQuery<Report>("/api/usage?group_by=artist");
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
