import { formatCompact } from "../../_ui/format.ts";
import { numberAt, textAt } from "../_state/tool-call.ts";

/** Marks where the conversation was compacted for the model, while the chat keeps everything. */
export function CompactionDivider({ data }: { readonly data: unknown }) {
  const before = numberAt(data, "tokens_before");
  const after = numberAt(data, "tokens_after");
  return (
    <p className="flex items-center gap-3 text-center text-xs text-muted-foreground before:h-px before:min-w-4 before:flex-1 before:bg-border after:h-px after:min-w-4 after:flex-1 after:bg-border">
      <span>
        {textAt(data, "kind") === "cleared"
          ? "Older tool results were removed from the model's context"
          : "The conversation above was condensed for the model"}
        {before !== null && after !== null && (
          <span className="whitespace-nowrap tabular-nums">
            {` · ${formatCompact(before)} `}
            <span aria-hidden>→</span>
            <span className="sr-only">to</span>
            {` ${formatCompact(after)} tokens`}
          </span>
        )}
      </span>
    </p>
  );
}
