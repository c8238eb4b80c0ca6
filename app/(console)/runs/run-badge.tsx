import { LoaderCircle } from "lucide-react";
import type { RunState } from "@/app/(console)/runs/_state/task-run-state.ts";
import { Badge } from "../_ui/badge.tsx";

/** The status of a run, with a spinner while it is running. */
export function RunBadge({ state }: { readonly state: RunState }) {
  return (
    <Badge tone={state.tone}>
      {state.isActive && state.tone === "accent" && (
        <LoaderCircle aria-hidden className="animate-spin" />
      )}
      {state.label}
    </Badge>
  );
}
