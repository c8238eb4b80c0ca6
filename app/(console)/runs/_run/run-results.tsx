/** A run's output, the objections of its verification, and the approvals it waits for. */

import type { ReactNode } from "react";
import type { listRunDeliveriesContract } from "@/lib/delivery/contract.ts";
import type { getRunContract, RunTrace } from "@/lib/turns/run-contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useArtist } from "../../_hooks/shared-reads.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { formatCost, formatCount, formatDateTime, formatDuration } from "../../_ui/format.ts";
import { SearchX } from "../../_ui/icons.tsx";
import { keyed } from "../../_ui/keyed.ts";
import { Section } from "../../_ui/page-header.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { Loading, Missing, Skeleton } from "../../_ui/states.tsx";
import { ArtistTag } from "../../artists/artist-tag.tsx";
import { RUN_KIND_LABELS, runDurationOf } from "../_state/run-state.ts";

type Run = RunTrace["run"];

const POLL_MS = 3_000;

/** The calls of client tools that have no result yet. */
export const RequiredAction = ({ tool_calls }: NonNullable<Run["required_action"]>) => (
  <Section title="Waiting for its client" className="mt-6">
    <p className="mb-3 text-muted-foreground">
      The client that started this run has yet to send the results of these tools.
    </p>
    <ul className="flex flex-col gap-3">
      {tool_calls.map(({ id, name, input }) => (
        <li key={id}>
          <p className="mb-1 font-mono text-sm [overflow-wrap:anywhere]">{name}</p>
          <Json value={input} name={`Input of ${name}`} />
        </li>
      ))}
    </ul>
  </Section>
);

const VERDICTS = {
  satisfied: "Satisfied",
  unsatisfied: "Not satisfied",
  not_judged: "Not judged",
} as const satisfies Record<Run["verdicts"][number]["verdict"], string>;

export const RunVerdicts = ({ verdicts }: { readonly verdicts: Run["verdicts"] }) => (
  <Section title="Outcome" className="mt-6">
    <ol className="divide-y rounded-xl border bg-surface">
      {verdicts.map(({ iteration, verdict, missing }) => (
        <li key={iteration} className="px-4 py-3">
          <p className="font-medium">
            Attempt {iteration}: {VERDICTS[verdict]}
          </p>
          <ul className="mt-1 list-disc pl-5 text-muted-foreground">
            {keyed(missing).map(({ key, item }) => (
              <li key={key} className="[overflow-wrap:anywhere]">
                {item}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  </Section>
);

const isInProgress = ({ status }: { readonly status: string }): boolean =>
  status === "pending" || status === "sending";

/** The delivery of a run's answer, by recipient. */
export function RunDeliveries({ runId }: Pick<Run, "runId">) {
  const path = `/api/chat/runs/${encodeURIComponent(runId)}`;
  const run = useQuery<Answer<typeof getRunContract>>(
    path,
    (read) => read?.delivery === "pending" && POLL_MS,
  ).data;
  const { data } = useQuery<Answer<typeof listRunDeliveriesContract>>(
    run?.delivery ? `${path}/deliveries` : null,
    (read) =>
      (run?.delivery === "pending" || read?.deliveries.some(isInProgress) === true) && POLL_MS,
  );
  if (!run?.delivery) return null;
  const { delivery, delivery_reason: reason } = run;
  return (
    <Section title="Delivery" className="mt-6">
      <p className="first-letter:uppercase">{reason ? `${delivery}: ${reason}` : delivery}</p>
      <ul aria-label="Recipients" className="text-sm wrap-anywhere text-muted-foreground">
        {data?.deliveries.map(({ id, kind, to, status, error }) => (
          <li key={id}>
            {to}
            {kind === "notice" && " (notice)"}: {status} {error}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export const Json = ({ value, name }: { readonly value: unknown; readonly name: string }) => (
  <TextBox text={JSON.stringify(value, null, 2)} name={`${name} JSON`} isLandmark />
);

type TextBoxProps = Readonly<{ text: string; name: string; isLandmark?: boolean }>;

export const TextBox = ({ text, name, isLandmark = false }: TextBoxProps) => (
  <div className="relative">
    <ScrollBox
      label={name}
      isLandmark={isLandmark}
      className="max-h-96 rounded-xl border bg-surface px-4 py-3"
    >
      <pre className="pr-10 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
        {text}
      </pre>
    </ScrollBox>
    <CopyButton
      isSmall
      text={text}
      label={`Copy ${name.charAt(0).toLowerCase()}${name.slice(1)}`}
      className="absolute top-2 right-2"
    />
  </div>
);

export const runFacts: Readonly<Record<string, (run: Run, now: number) => ReactNode>> = {
  Started: ({ createdAt }) => formatDateTime(createdAt),
  Duration: (run, now) => formatDuration(run.duration_ms ?? runDurationOf(run, now)),
  Kind: ({ kind }) => RUN_KIND_LABELS[kind],
  Model: ({ model_id }) => model_id,
  Tokens: ({ usage }) =>
    `${formatCount(usage.input_tokens)} in${usage.cached_input_tokens > 0 ? ` (${formatCount(usage.cached_input_tokens)} cached)` : ""} · ${formatCount(usage.output_tokens)} out`,
  Cost: (run) => formatCost(run),
};

export function RunFacts({ run, now }: { readonly run: Run; readonly now: number }) {
  const artist = useArtist(run.artist_id);
  const facts = Object.entries(runFacts).map(([name, of]) => [name, of(run, now)] as const);
  if (artist) facts.splice(3, 0, ["Artist", <ArtistTag key="artist" artist={artist} />]);
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-xl border bg-surface px-4 py-3.5 sm:grid-cols-3 lg:flex lg:flex-wrap lg:gap-x-10">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-muted-foreground">{name}</dt>
          <dd className="mt-0.5 tabular-nums wrap-anywhere sm:truncate">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** States of a run's page that have no run to show. */
export const runStates = {
  loading: (
    <Loading label="Loading run…" className="flex flex-col gap-5">
      <Skeleton className="h-8 w-72 max-w-full" />
      <Skeleton className="h-20 rounded-xl" />
      <Skeleton className="h-80 rounded-xl" />
    </Loading>
  ),
  missing: (
    <Missing
      icon={SearchX}
      title="Run not found"
      text="Its chat has been deleted, or it belongs to another account."
      href="/runs"
      link="All runs"
    />
  ),
};
