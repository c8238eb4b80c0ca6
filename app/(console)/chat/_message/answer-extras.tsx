/** The parts of an answer beside text and tools: files, sources, notes, and a failure. Loaded on demand. */

import { visibleName } from "@platform/kit/visible-name";
import type { UIMessage } from "ai";
import { useContext } from "react";
import { describeTurnError } from "../../_api/describe-error.ts";
import { webAddress } from "../../_markdown/parse.ts";
import { ModelPicker } from "../../_models/model-picker.tsx";
import { Button, ButtonLink, IconButton } from "../../_ui/button.tsx";
import { formatCompact } from "../../_ui/format.ts";
import { CircleAlert, Download, RotateCw } from "../../_ui/icons.tsx";
import { withoutHome } from "../_state/attachment.ts";
import { listAt, numberAt, readToolCall, textAt } from "../_state/tool-call.ts";
import { SandboxFilesContext, saveSandboxFile } from "../_tools/file-link.tsx";
import { FileLabel } from "./file-type-icon.tsx";

type Parts = Readonly<{ parts: UIMessage["parts"] }>;

/** The files that an answer has written: each opens beside the chat, or is downloaded. */
export function WrittenFiles({ parts }: Parts) {
  const sandbox = useContext(SandboxFilesContext);
  const files = filesIn(parts);
  if (sandbox === null || files.size === 0) return null;
  return (
    <ul aria-label="Files of this answer" className="flex flex-wrap gap-2">
      {[...files].map(([path, size]) => {
        const name = visibleName(path.split("/").at(-1) ?? path);
        const save = () => saveSandboxFile(sandbox.sessionId, path);
        return (
          <li
            key={path}
            className="flex w-64 max-w-full items-center gap-1 rounded-xl border bg-surface p-1.5"
          >
            <button
              type="button"
              title={`Open ${visibleName(path)}`}
              onClick={() => (sandbox.open ?? save)(path)}
              className="flex min-w-0 flex-1 items-center gap-2.5 rounded-lg text-left hover:opacity-85"
            >
              <FileLabel {...{ name, size }} />
            </button>
            <IconButton icon={Download} label={`Download ${name}`} onClick={save} />
          </li>
        );
      })}
    </ul>
  );
}

/** Returns the sizes of the files by path, as the newest of their writes has it. */
function filesIn(parts: UIMessage["parts"]): Map<string, number> {
  const files = new Map<string, number>();
  for (const part of parts) {
    const call = readToolCall(part);
    if ((call?.name === "write" || call?.name === "edit") && call.state === "done") {
      const path = withoutHome(textAt(call.output, "filePath") ?? "");
      if (path) files.set(path, numberAt(call.output, "bytes") ?? 0);
    }
    if (part.type !== "data-workspace") continue;
    for (const file of listAt("data" in part && part.data, "stored")) {
      files.set(`workspace/${textAt(file, "path")}`, numberAt(file, "size") ?? 0);
    }
  }
  return files;
}

/** The pages that the agent has found for an answer by searching the web. */
export function Sources({ parts }: Parts) {
  const titles = new Map<string, string>();
  for (const part of parts) {
    const address = part.type === "source-url" ? webAddress(part.url) : null;
    if (part.type === "source-url" && address !== null) titles.set(address, part.title ?? address);
  }
  return (
    <details className="text-sm">
      <summary className="w-fit cursor-pointer text-muted-foreground">
        Sources ({titles.size})
      </summary>
      <ol aria-label="Sources" className="mt-1 list-decimal pl-5 wrap-anywhere">
        {[...titles].map(([address, title]) => (
          <li key={address}>
            <a
              href={address}
              target="_blank"
              rel="noopener noreferrer nofollow"
              className="text-accent-text hover:underline"
            >
              {title}
            </a>{" "}
            <span className="text-muted-foreground">{new URL(address).hostname}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

type DataPartProps = Readonly<{ type: string; data: unknown }>;

/** A note of the service in an answer. Shows nothing for a part that it does not know. */
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

const Notes = ({ lines }: { readonly lines: readonly string[] }) => (
  <ul className="list-none text-xs text-muted-foreground">
    {lines.map((line) => (
      <li key={line}>{line}</li>
    ))}
  </ul>
);

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

interface TurnFailureProps {
  readonly error: string;
  readonly modelId: string;
  /** Null where the answer cannot be repeated. */
  readonly onRetry: (() => void) | null;
  readonly onTryModel: (modelId: string) => void;
}

export function TurnFailure({ error, modelId, onRetry, onTryModel }: TurnFailureProps) {
  const { text, canRetry, suggestsModel, isOfBudget } = describeTurnError(error);
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-2 rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-text"
    >
      <CircleAlert aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">{text}</p>
      {isOfBudget && (
        <ButtonLink href="/usage" variant="outline" size="sm">
          Open budget
        </ButtonLink>
      )}
      {onRetry && canRetry && (
        <Button icon={RotateCw} variant="outline" size="sm" onClick={onRetry}>
          Retry
        </Button>
      )}
      {onRetry && suggestsModel && (
        <ModelPicker label="Try another model" value={modelId} onChoose={onTryModel} />
      )}
    </div>
  );
}
