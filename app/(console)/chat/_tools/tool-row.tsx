import { visibleName } from "@platform/kit/visible-name";
import { memo } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { cn } from "../../_ui/class-names.ts";
import { Disclosure } from "../../_ui/disclosure.tsx";
import { CircleAlert, type IconComponent, LoaderCircle } from "../../_ui/icons.tsx";
import { describeToolCall, type ToolCall, textAt } from "../_state/tool-call.ts";
import { toolIcon } from "./tool-icon.ts";

const ToolDetail = lazyComponent(() => import("./tool-detail.tsx"), "ToolDetail");

/** One tool call in one line, which expands to show its input and output. */
export const ToolRow = memo(function ToolRow({ call }: { readonly call: ToolCall }) {
  const { verb, subject, outcome, isFailure } = describeToolCall(call);
  const { state, error, output } = call;
  const printed = state === "running" ? (textAt(output, "stdout") ?? "") : "";
  return (
    <Disclosure
      className="group w-[calc(100%+1rem)]"
      panelClassName="pt-1 pb-2 pl-6"
      summary={
        <>
          <Mark call={call} icon={toolIcon(call.name)} />
          <span className="shrink-0">{verb}</span>
          {subject !== "" && (
            <code className="min-w-0 truncate rounded bg-muted px-1.5 py-0.5 font-mono text-xs text-foreground group-hover:bg-hover">
              {visibleName(subject)}
            </code>
          )}
          {printed !== "" && (
            <code className="ml-auto max-w-1/2 truncate pl-2 font-mono text-xs">
              {printed.trimEnd().split("\n").at(-1)}
            </code>
          )}
          {outcome !== "" && (
            <span className={cn("shrink-0 text-xs", isFailure && "text-warning-text")}>
              {outcome}
            </span>
          )}
          {state === "failed" && <span className="shrink-0 text-xs text-danger-text">Failed</span>}
          {state === "stopped" && (
            <span className="shrink-0 text-xs text-warning-text">
              {error === "Denied" ? error : "Stopped"}
            </span>
          )}
        </>
      }
    >
      <ToolDetail call={call} />
    </Disclosure>
  );
});

function Mark({ call, icon: Icon }: { readonly call: ToolCall; readonly icon: IconComponent }) {
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
