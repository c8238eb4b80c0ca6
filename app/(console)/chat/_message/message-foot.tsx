"use client";
import type { UIMessage } from "ai";
import { numberAt, textAt, valueAt } from "@/app/(console)/chat/_state/tool-call.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";

/** Who answered, at what cost, in what time, and whether it came to its end. */
export function MessageFoot({ message }: { readonly message: UIMessage }) {
  const { metadata } = message;
  const text = message.parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n\n");
  const tokens = numberAt(valueAt(metadata, "usage"), "totalTokens");
  const duration = numberAt(metadata, "durationMs");
  const facts = [
    textAt(metadata, "modelId"),
    tokens === null ? null : `${tokens.toLocaleString("en")} tokens`,
    duration === null ? null : inSeconds(duration),
  ].filter((fact) => fact !== null);
  const end = ends[textAt(metadata, "finishReason") ?? ""];
  return (
    <footer className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted-foreground">
      {text !== "" && (
        <CopyButton
          text={text}
          label="Copy the answer"
          variant="ghost"
          className="-ml-1.5 size-7 [&_svg]:size-3.5"
        />
      )}
      {end !== undefined && <span className="font-medium text-warning-text">{end}</span>}
      <span>{facts.join(" · ")}</span>
    </footer>
  );
}

const ends: Readonly<Record<string, string | undefined>> = {
  interrupted: "Stopped",
  error: "Ended with an error",
  length: "Cut at the model's limit",
  "content-filter": "Cut by the model's filter",
};

const inSeconds = (ms: number): string =>
  ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
