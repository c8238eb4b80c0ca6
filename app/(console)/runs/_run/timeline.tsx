import { useEffect, useState } from "react";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { formatDuration } from "../../_ui/format.ts";
import { Hourglass, ListTree, Sparkles, ZoomIn, ZoomOut } from "../../_ui/icons.tsx";
import { EmptyState } from "../../_ui/states.tsx";
import { toolIcon } from "../../chat/_tools/tool-icon.ts";
import type { Range, Span } from "../_state/run-spans.ts";
import { rangeAround, spansOf, stateOf, ticksOf } from "../_state/run-spans.ts";
import { SpanDetails } from "./span-details.tsx";

const ModelCallDetails = lazyComponent(() => import("./call-details.tsx"), "ModelCallDetails");
const CallDetails = lazyComponent(() => import("./call-details.tsx"), "CallDetails");

/** The model calls and tools of a run as bars on a common time axis, with the details of a chosen one. */
export function Timeline({ trace, now }: { readonly trace: RunTrace; readonly now: number }) {
  const [linked] = useState(linkedStep);
  const [chosen, setChosen] = useState(linked);
  const [isZoomed, setIsZoomed] = useState(false);
  const spans = spansOf(trace, now);
  const { run } = trace;
  const ended = run.finishedAt === null ? now : Date.parse(run.finishedAt);
  const total = Math.max(1, ended - Date.parse(run.createdAt), ...spans.map(({ end }) => end));
  const whole = { from: 0, to: total };
  const span =
    spans.find(({ id }) => id === chosen) ??
    spans.find((one) => appearanceOf(one).isFailed) ??
    spans.at(-1);
  const range = isZoomed && span !== undefined ? rangeAround(span, whole) : whole;
  useEffect(() => {
    document.getElementById(linked)?.scrollIntoView({ block: "center" });
  }, [linked]);
  const choose = (id: string) => {
    setChosen(id);
    history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  };
  return (
    <section aria-label="Timeline" className="mt-6">
      <div className="mb-2 flex min-h-8 items-center justify-between gap-3">
        <h2 className="text-sm font-medium text-muted-foreground">Timeline</h2>
        {span !== undefined && (
          <CopyButton isSmall label="Copy link to step" className="ml-auto" text={linkTo(span)} />
        )}
        {spans.length > 1 && (
          <Button
            icon={isZoomed ? ZoomOut : ZoomIn}
            variant="ghost"
            size="sm"
            onClick={() => setIsZoomed(!isZoomed)}
          >
            {isZoomed ? "Show whole run" : "Zoom to step"}
          </Button>
        )}
      </div>
      {spans.length === 0 || span === undefined ? (
        <EmptyState
          icon={ListTree}
          title="No trace"
          text="The steps of a run are kept for 30 days unless this server is set up otherwise. Its answer is still in the chat."
        />
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_19rem]">
          <div className="overflow-hidden rounded-xl border bg-surface">
            <Axis range={range} />
            <ol className="py-1.5">
              {spans.map((one) => (
                <li key={one.id} id={one.id}>
                  <Row
                    {...{ span: one, range }}
                    isChosen={one === span}
                    onChoose={() => choose(one.id)}
                  />
                </li>
              ))}
            </ol>
          </div>
          <SpanDetails key={span.id} span={span} title={appearanceOf(span).label} />
        </div>
      )}
      {span?.kind === "tool" && <CallDetails key={span.id} run={run} callId={span.call.id} />}
      {span?.kind === "model" && span.address !== undefined && (
        <ModelCallDetails
          key={span.id}
          path={`/api/chat/runs/${encodeURIComponent(run.runId)}/steps/${span.address}`}
        />
      )}
    </section>
  );
}

/** The step that the address names, such as `#step-0`. The timeline is shown in browsers only. */
const linkedStep = (): string =>
  // Unlike decodeURIComponent, it takes any text.
  new URLSearchParams(location.hash.replace("#", "step=")).get("step") ?? "";
const linkTo = ({ id }: Span): string =>
  `${location.origin}${location.pathname}#${encodeURIComponent(id)}`;

const columns =
  "grid grid-cols-[minmax(0,9.5rem)_minmax(0,1fr)_4rem] items-center gap-x-3 px-3 sm:grid-cols-[minmax(0,15rem)_minmax(0,1fr)_4.5rem]";

function Axis({ range }: { readonly range: Range }) {
  const isBehind = (at: number, place: number) => placeOf(at, range) > place;
  return (
    <div
      aria-hidden
      className={cn(columns, "border-b bg-muted/60 py-1.5 text-xs text-muted-foreground")}
    >
      <span>Step</span>
      <span className="relative h-4 overflow-hidden">
        {ticksOf(range).map((at) => (
          <span
            key={at}
            className="absolute top-0 border-l pl-1 whitespace-nowrap tabular-nums max-sm:nth-[even]:hidden"
            style={{ left: percent(placeOf(at, range)) }}
          >
            <span
              className={cn(isBehind(at, 0.6) && "max-sm:hidden", isBehind(at, 0.9) && "hidden")}
            >
              {at === 0 ? "0" : formatDuration(at)}
            </span>
          </span>
        ))}
      </span>
      <span className="text-right">Time</span>
    </div>
  );
}

type RowProps = Readonly<{ span: Span; range: Range; isChosen: boolean; onChoose: () => void }>;

function Row({ span, range, isChosen, onChoose }: RowProps) {
  const { icon: Icon, label, bar, isFailed: failed } = appearanceOf(span);
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onChoose}
      className={cn(
        columns,
        "h-8 w-full text-left hover:bg-muted/60 focus-visible:-outline-offset-2",
        isChosen && "bg-muted",
      )}
    >
      <span
        className="flex min-w-0 items-center gap-2"
        style={{ paddingLeft: `${span.depth * 1.25}rem` }}
      >
        <Icon
          aria-hidden
          className={cn("size-3.5 shrink-0 text-muted-foreground", failed && "text-danger-text")}
        />
        <span className={cn("truncate text-sm", failed && "text-danger-text")}>
          {label}
          {failed && <span className="sr-only"> (failed)</span>}
        </span>
      </span>
      <span aria-hidden className="relative h-full overflow-hidden">
        {ticksOf(range).map((at) => (
          <span
            key={at}
            className="absolute inset-y-0 border-l max-sm:nth-[even]:hidden"
            style={{ left: percent(placeOf(at, range)) }}
          />
        ))}
        <span
          className={cn(
            "absolute inset-y-2.25 min-w-1 rounded-sm",
            failed ? "bg-danger" : bar,
            span.isOpen && "animate-pulse",
          )}
          style={barStyle(span, range)}
        />
      </span>
      <span className="text-right text-sm text-muted-foreground tabular-nums">
        {span.isOpen && <span className="sr-only">so far </span>}
        {formatDuration(span.end - span.start)}
      </span>
    </button>
  );
}

/** Returns where a moment is on the axis: 0 at its beginning, 1 at its end. */
const placeOf = (at: number, { from, to }: Range): number => (at - from) / (to - from);
const percent = (share: number): string => `${share * 100}%`;

/** Short steps at the end of the axis are shown whole; those outside of it are not shown. */
function barStyle({ start, end }: Span, range: Range) {
  const left = percent(placeOf(start, range));
  return {
    left: start > range.to ? left : `min(${left}, 100% - 0.25rem)`,
    width: percent((end - start) / (range.to - range.from)),
  };
}

function appearanceOf(span: Span) {
  if (span.kind === "wait") {
    return { icon: Hourglass, label: "Start", bar: "bg-input", isFailed: false };
  }
  if (span.kind === "model") {
    const isFailed = span.step?.finish_reason === "error";
    return { icon: Sparkles, label: `Model call ${span.number}`, bar: "bg-accent", isFailed };
  }
  const { name } = span.call;
  const isFailed = stateOf(span.call) === "failed";
  return { icon: toolIcon(name), label: name, bar: "bg-muted-foreground", isFailed };
}
