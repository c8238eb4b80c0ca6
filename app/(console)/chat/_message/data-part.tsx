import { formatCompact } from "../../_ui/format.ts";
import { listAt, numberAt, textAt } from "../_state/tool-call.ts";

type DataPartProps = Readonly<{ type: string; data: unknown }>;

/** What the service notes in an answer, beside what the model writes. Shows nothing for a part it does not know. */
export function DataPart({ type, data }: DataPartProps) {
  if (type === "data-compaction") return <CompactionDivider data={data} />;
  if (type === "data-workspace") return <Notes lines={workspaceLines(data)} />;
  if (type === "data-outcome") return <Notes lines={verdictLines(data)} />;
  return null;
}

/** Marks where the conversation was compacted for the model, while the chat keeps everything. */
function CompactionDivider({ data }: Pick<DataPartProps, "data">) {
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

function Notes({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ul className="list-none text-xs text-muted-foreground">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** Names the files of the workspace that a turn could not store as they were. */
function workspaceLines(data: unknown): string[] {
  const conflicts = listAt(data, "conflicts").map(
    (conflict) =>
      `${textAt(conflict, "path")} was changed by someone else. This version is saved as ${textAt(conflict, "stored_as")}.`,
  );
  const skipped = listAt(data, "skipped").map(
    (file) => `${textAt(file, "path")} was not saved: ${textAt(file, "reason")}.`,
  );
  const isStored = Object(data).is_stored === true;
  return isStored
    ? [...conflicts, ...skipped]
    : ["The workspace could not be saved. The next answer saves it."];
}

function verdictLines(data: unknown): string[] {
  const verdict = textAt(data, "verdict");
  if (verdict === "satisfied") return ["Checked: the work is complete."];
  if (verdict === "not_judged") return ["The work could not be checked."];
  return listAt(data, "missing").map((point) => `Missing: ${String(point)}`);
}
