"use client";
import { unifiedDiff } from "@platform/kit/unified-diff";
import { useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import type { ReadCall } from "@/lib/turns/model-call-contract.ts";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { DiffView } from "../../_ui/diff-view.tsx";
import { Link } from "../../_ui/link.tsx";
import { BackLink, Page, PageHeader, Section } from "../../_ui/page-header.tsx";
import { Loaded, Skeleton } from "../../_ui/states.tsx";
import { runFacts, runStates } from "../_run/run-results.tsx";
import { runStateOf } from "../_state/run-state.ts";
import { RunStatus } from "../run-status.tsx";

const POLL_MS = 2_500;

const stepsOf = (id: string) => `/api/chat/runs/${encodeURIComponent(id)}/steps`;

/** Reads a run of the address, until it has ended. */
const useRun = (id: string | null) =>
  useQuery<RunTrace>(stepsOf(id ?? ""), (trace) => trace?.run.finishedAt === null && POLL_MS);

/** Two runs side by side, whose ids are in the address. */
export function ComparePage() {
  const query = useSearchParams();
  const before = useRun(query.get("a"));
  const after = useRun(query.get("b"));
  return (
    <Page>
      <BackLink href="/runs">Runs</BackLink>
      <PageHeader title="Compare runs" />
      <Loaded query={before} {...runStates}>
        {(a) => (
          <Loaded query={after} {...runStates}>
            {(b) => <Comparison runs={[a, b]} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

const rows: Readonly<Record<string, (trace: RunTrace) => ReactNode>> = {
  Run: ({ run }) => (
    <Link href={`/runs/${run.runId}`} className="underline">
      {run.title.trim() || "Untitled"}
    </Link>
  ),
  Status: ({ run }) => <RunStatus state={runStateOf(run)} />,
  ...Object.fromEntries(
    Object.entries(runFacts).map(([name, of]) => [name, ({ run }) => of(run, Date.now())]),
  ),
  Steps: ({ steps }) => (
    <ol className="list-decimal pl-5">
      {steps.map(({ index, tool_calls }) => (
        <li key={index}>{tool_calls.map(({ name }) => name).join(", ") || "Answer"}</li>
      ))}
    </ol>
  ),
};

function Comparison({ runs: [a, b] }: { readonly runs: readonly [RunTrace, RunTrace] }) {
  const [before, after] = [useAnswer(a), useAnswer(b)];
  const diff = unifiedDiff(["First run", "Second run"], before ?? "", after ?? "");
  return (
    <>
      <table className="w-full table-fixed rounded-xl border bg-surface text-sm">
        <tbody className="divide-y">
          {Object.entries(rows).map(([name, of]) => (
            <tr key={name} className="align-top wrap-anywhere tabular-nums [&>*]:px-3 [&>*]:py-2">
              <th scope="row" className="w-24 text-left font-normal text-muted-foreground">
                {name}
              </th>
              <td>{of(a)}</td>
              <td>{of(b)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Section title="Answers" className="mt-6">
        {before === null || after === null ? (
          <Skeleton className="h-24 rounded-xl" />
        ) : before === after ? (
          <p className="text-muted-foreground">Both answers are the same.</p>
        ) : (
          <DiffView diff={diff ?? "The answers differ too much to be compared."} />
        )}
      </Section>
    </>
  );
}

/** Returns the output of a run, or the text of its last model call; null while it loads. */
function useAnswer({ run, steps }: RunTrace): string | null {
  const last = steps.at(-1);
  const path = run.output === null && last ? `${stepsOf(run.runId)}/${last.index}` : null;
  const { data, error } = useQuery<ReadCall>(path);
  if (run.output !== null) return JSON.stringify(run.output, null, 2);
  if (path === null || error !== null) return "";
  const texts = data?.answer.filter(({ type }) => type === "text").map(({ text }) => text);
  return texts ? texts.join("\n") : null;
}
