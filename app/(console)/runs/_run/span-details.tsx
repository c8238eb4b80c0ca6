import { Badge } from "../../_ui/badge.tsx";
import { cn } from "../../_ui/class-names.ts";
import { Fact, Facts } from "../../_ui/facts.tsx";
import { formatCount, formatDuration, formatUsd } from "../../_ui/format.ts";
import { type Span, stateOf } from "../_state/run-spans.ts";

const factsStyle = "mt-2 text-sm tabular-nums [&>dd]:text-right";

/** What one bar of the timeline stands for. */
export function SpanDetails({ span }: { readonly span: Span }) {
  return (
    <section
      aria-label="Step details"
      className="rounded-xl border bg-surface px-4 py-3.5 lg:sticky lg:top-4"
    >
      {span.kind === "wait" && (
        <>
          <h3 className="font-medium">Start</h3>
          <p className="mt-1 text-sm text-muted-foreground">
            From the request to the first model call: the run waits for its turn, and its files are
            opened.
          </p>
        </>
      )}
      {span.kind === "model" && <ModelCall span={span} />}
      {span.kind === "tool" && <ToolCall span={span} />}
      <Facts className={factsStyle}>
        <Fact name="Began after">{formatDuration(span.start)}</Fact>
        <Fact name={span.isOpen ? "So far" : "Duration"}>
          {formatDuration(span.end - span.start)}
        </Fact>
      </Facts>
    </section>
  );
}

function ModelCall({ span }: { readonly span: Span & { kind: "model" } }) {
  const { step } = span;
  return (
    <>
      <h3 className="font-medium">Model call {span.number}</h3>
      {step === null ? (
        <p className="mt-1 text-sm text-muted-foreground">The model is answering.</p>
      ) : (
        <Facts className={factsStyle}>
          <Fact name="Model">{step.model_id}</Fact>
          <Fact name="Input">
            {formatCount(step.usage.input_tokens)} tokens
            {step.usage.cached_input_tokens > 0 &&
              `, ${formatCount(step.usage.cached_input_tokens)} of them cached`}
          </Fact>
          <Fact name="Output">{formatCount(step.usage.output_tokens)} tokens</Fact>
          <Fact name="Cost">{formatUsd(step.cost_usd)}</Fact>
          {step.finish_reason !== null && (
            <Fact name="Ended with">{FINISH_LABELS[step.finish_reason] ?? step.finish_reason}</Fact>
          )}
          {step.attempts > 1 && <Fact name="Attempts">{step.attempts}</Fact>}
          {step.tool_calls.length > 0 && (
            <Fact name="Tools">{step.tool_calls.map(({ name }) => name).join(", ")}</Fact>
          )}
        </Facts>
      )}
    </>
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
  pending: ["Waiting", "neutral"],
  running: ["Running", "accent"],
  completed: ["Completed", "success"],
  failed: ["Failed", "danger"],
  stopped: ["Stopped", "neutral"],
} as const;

function ToolCall({ span: { call } }: { readonly span: Span & { kind: "tool" } }) {
  const state = stateOf(call);
  const [label, tone] = TOOL_STATES[state];
  return (
    <>
      <div className="flex items-center justify-between gap-2">
        <h3 className="min-w-0 truncate font-medium">{call.name}</h3>
        <Badge tone={tone}>{label}</Badge>
      </div>
      {call.error !== null && (
        <p
          className={cn(
            "mt-2 rounded-md px-3 py-2 text-sm [overflow-wrap:anywhere]",
            state === "stopped" ? "bg-muted" : "bg-danger-soft text-danger-text",
          )}
        >
          {call.error}
        </p>
      )}
      <Facts className={factsStyle}>
        <Fact name="Call ID">
          <code className="font-mono text-xs break-all">{call.id}</code>
        </Fact>
      </Facts>
    </>
  );
}
