"use client";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { getUsageContract } from "@/lib/usage/contract.ts";
import { Skeleton } from "../../_ui/skeleton.tsx";

type Report = z.output<(typeof getUsageContract)["responses"][200]["schema"]>;

const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** What the account has used for the artist since the start of the month. */
export function ArtistUsage({ id }: { readonly id: string }) {
  const { data, error } = useQuery<Report>("/api/usage?group_by=artist");
  // The page is about more than its figures.
  if (error !== null) return null;
  const used = data?.items.find(({ key }) => key === id);
  const figures = [
    ["Runs", String(used?.runs ?? 0)],
    ["Tokens", compact.format((used?.input_tokens ?? 0) + (used?.output_tokens ?? 0))],
    ["Cost", dollars.format(used?.cost_usd ?? 0)],
    ["Images and videos", String((used?.images ?? 0) + (used?.videos ?? 0))],
  ] as const;
  return (
    <section aria-label="Usage this month" className="mb-6">
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border bg-border sm:grid-cols-4">
        {figures.map(([label, value]) => (
          <div key={label} className="bg-surface px-4 py-3">
            <dt className="text-sm text-muted-foreground">{label}</dt>
            <dd className="mt-0.5 text-lg font-semibold tabular-nums">
              {data === undefined ? <Skeleton className="h-6 w-12" /> : value}
            </dd>
          </div>
        ))}
      </dl>
      <p className="mt-1.5 text-xs text-muted-foreground">Since the start of the month (UTC)</p>
    </section>
  );
}
