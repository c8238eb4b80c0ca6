"use client";
import type { UIMessage } from "ai";
import { numberAt, textAt, valueAt } from "@/app/(console)/chat/_state/tool-call.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";

/** The model, token count and duration of a turn, and how it ended if it was cut short. */
export function MessageFooter({ message }: { readonly message: UIMessage }) {
  const { metadata } = message;
  const text = message.parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n\n");
  const tokens = numberAt(valueAt(metadata, "usage"), "totalTokens");
  const duration = numberAt(metadata, "durationMs");
  const details = [
    textAt(metadata, "modelId"),
    tokens === null ? null : `${tokens.toLocaleString("en")} tokens`,
    duration === null ? null : inSeconds(duration),
  ].filter((detail) => detail !== null);
  const ending = ENDINGS[textAt(metadata, "finishReason") ?? ""];
  return (
    <footer className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted-foreground">
      {text !== "" && (
        <CopyButton
          text={text}
          label="Copy message"
          variant="ghost"
          className="-ml-1.5 size-7 [&_svg]:size-3.5"
        />
      )}
      {ending !== undefined && <span className="font-medium text-warning-text">{ending}</span>}
      <span>{details.join(" · ")}</span>
    </footer>
  );
}

const ENDINGS: Readonly<Record<string, string | undefined>> = {
  interrupted: "Stopped",
  error: "Ended with an error",
  length: "Cut off at the model's length limit",
  "content-filter": "Cut off by the model's content filter",
};

const inSeconds = (ms: number): string =>
  ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
