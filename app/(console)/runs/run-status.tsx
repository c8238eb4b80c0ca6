import { cn } from "../_ui/class-names.ts";
import { CircleCheck, CircleDashed, CircleX, LoaderCircle } from "../_ui/icons.tsx";
import type { RunState } from "./_state/task-run-state.ts";

const marks = {
  neutral: { icon: CircleDashed, style: "text-muted-foreground" },
  accent: { icon: LoaderCircle, style: "text-accent-text [&>svg]:animate-spin" },
  success: { icon: CircleCheck, style: "text-muted-foreground [&>svg]:text-success-text" },
  warning: { icon: CircleDashed, style: "text-warning-text" },
  danger: { icon: CircleX, style: "text-danger-text" },
} as const;

interface RunStatusProps {
  readonly state: RunState;
  /** In a list on a phone, a succeeded run shows only the mark. */
  readonly isCompact?: boolean;
}

/** The status of a run. Success is muted to make the other statuses stand out in a list. */
export function RunStatus({ state, isCompact = false }: RunStatusProps) {
  const { icon: Icon, style } = marks[state.tone];
  return (
    <span
      className={cn(
        "inline-flex items-center gap-1.5 text-sm font-medium whitespace-nowrap [&>svg]:size-4",
        style,
      )}
    >
      <Icon aria-hidden />
      <span className={cn(isCompact && state.tone === "success" && "max-sm:sr-only")}>
        {state.label}
      </span>
    </span>
  );
}
