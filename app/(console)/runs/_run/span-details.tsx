import { Badge } from "../../_ui/badge.tsx";
import { cn } from "../../_ui/class-names.ts";
import { Fact, Facts } from "../../_ui/facts.tsx";
import { formatCount, formatDuration, formatUsd } from "../../_ui/format.ts";
import { type Span, stateOf } from "../_state/run-spans.ts";

/** The details of one bar of the timeline. */
export function SpanDetails({ span, title }: Readonly<{ span: Span; title: string }>) {
  const step = (span.kind === "model" && span.step) || undefined;
  const call = span.kind === "tool" ? span.call : undefined;
  const state = call && stateOf(call);
  return (
    <section
      aria-label="Step details"
      className="rounded-xl border bg-surface px-4 py-3.5 lg:sticky lg:top-4"
    >
      <div className="flex items-center justify-between gap-2">
        <h3 className="min-w-0 truncate font-medium">{title}</h3>
        {state && <Badge {...TOOL_STATES[state]} />}
      </div>
      {span.kind === "wait" && (
        <p className="mt-1 text-sm text-muted-foreground">
          From the request to the first model call: the run waits for its turn, and its files are
          opened.
        </p>
      )}
      {span.kind === "model" && !step && (
        <p className="mt-1 text-sm text-muted-foreground">The model is answering.</p>
      )}
      {call && call.error !== null && (
        <p
          className={cn(
            "mt-2 rounded-md px-3 py-2 text-sm [overflow-wrap:anywhere]",
            state === "stopped" ? "bg-muted" : "bg-danger-soft text-danger-text",
          )}
        >
          {call.error}
        </p>
      )}
      <Facts className="mt-2 text-sm tabular-nums [&>dd]:text-right">
        {step && (
          <>
            <Fact name="Model">{step.model_id}</Fact>
            <Fact name="Input">
              {formatCount(step.usage.input_tokens)} tokens
              {step.usage.cached_input_tokens > 0 &&
                `, ${formatCount(step.usage.cached_input_tokens)} of them cached`}
            </Fact>
            <Fact name="Output">{formatCount(step.usage.output_tokens)} tokens</Fact>
            <Fact name="Cost">{formatUsd(step.cost_usd)}</Fact>
            {step.finish_reason !== null && (
              <Fact name="Ended with">
                {FINISH_LABELS[step.finish_reason] ?? step.finish_reason}
              </Fact>
            )}
            {step.attempts > 1 && <Fact name="Attempts">{step.attempts}</Fact>}
            {step.tool_calls.length > 0 && (
              <Fact name="Tools">{step.tool_calls.map(({ name }) => name).join(", ")}</Fact>
            )}
          </>
        )}
        {call && (
          <Fact name="Call ID">
            <code className="font-mono text-xs break-all">{call.id}</code>
          </Fact>
        )}
        <Fact name="Began after">{formatDuration(span.start)}</Fact>
        <Fact name={span.isOpen ? "So far" : "Duration"}>
          {formatDuration(span.end - span.start)}
        </Fact>
      </Facts>
    </section>
  );
}

/** The AI SDK's reasons why a model has ended its answer. */
const FINISH_LABELS: Readonly<Record<string, string>> = {
  stop: "An answer",
  "tool-calls": "Tool calls",
  length: "The length limit",
  "content-filter": "The content filter",
  error: "An error",
};

const TOOL_STATES = {
  pending: { tone: "neutral", children: "Waiting" },
  running: { tone: "accent", children: "Running" },
  completed: { tone: "success", children: "Completed" },
  failed: { tone: "danger", children: "Failed" },
  stopped: { tone: "neutral", children: "Stopped" },
} as const;
