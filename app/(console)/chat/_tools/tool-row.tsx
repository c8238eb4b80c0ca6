"use client";
import { ChevronRight, CircleAlert, LoaderCircle, type LucideIcon } from "lucide-react";
import { memo, useId, useState } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { cn } from "../../_ui/class-names.ts";
import { describeToolCall, type ToolCall } from "../_state/tool-call.ts";
import { toolIcon } from "./tool-icon.ts";

const ToolDetail = lazyComponent(() => import("./tool-detail.tsx"), "ToolDetail");

/** One tool call in one line, which expands to show its input and output. */
export const ToolRow = memo(function ToolRow({ call }: { readonly call: ToolCall }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const { verb, subject, outcome, isFailure } = describeToolCall(call);
  const Icon = toolIcon(call.name);
  return (
    <div className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="group -mx-2 flex h-8 w-[calc(100%+1rem)] min-w-0 items-center gap-2 rounded-md px-2 text-left text-muted-foreground hover:bg-muted"
      >
        <Mark call={call} icon={Icon} />
        <span className="shrink-0 text-sm">{verb}</span>
        {subject !== "" && (
          <code className="min-w-0 truncate rounded bg-muted px-1.5 py-0.5 font-mono text-xs text-foreground group-hover:bg-hover">
            {subject}
          </code>
        )}
        {outcome !== "" && (
          <span className={cn("shrink-0 text-xs", isFailure && "text-warning-text")}>
            {outcome}
          </span>
        )}
        {call.state === "failed" && (
          <span className="shrink-0 text-xs text-danger-text">Failed</span>
        )}
        {call.state === "stopped" && (
          <span className="shrink-0 text-xs text-warning-text">
            {call.error === "Denied" ? "Denied" : "Stopped"}
          </span>
        )}
        <ChevronRight
          aria-hidden
          className={cn("ml-auto size-3.5 shrink-0 transition-transform", isOpen && "rotate-90")}
        />
      </button>
      <div id={id} hidden={!isOpen} className="pt-1 pb-2 pl-6">
        {isOpen && <ToolDetail call={call} />}
      </div>
    </div>
  );
});

function Mark({ call, icon: Icon }: { readonly call: ToolCall; readonly icon: LucideIcon }) {
  if (call.state === "running") {
    return (
      <LoaderCircle role="img" aria-label="Running:" className="size-4 shrink-0 animate-spin" />
    );
  }
  if (call.state === "failed") {
    return <CircleAlert aria-hidden className="size-4 shrink-0 text-danger-text" />;
  }
  return <Icon aria-hidden className="size-4 shrink-0" />;
}
