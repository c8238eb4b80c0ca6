"use client";
import type { UIMessage } from "ai";

/** Shows that the agent is working while its message shows no progress. It reserves the height of the message footer. */
export function TypingIndicator({ last }: { readonly last: UIMessage | undefined }) {
  const part = last?.role === "assistant" ? last.parts.at(-1) : undefined;
  const isVisible =
    (part?.type === "text" && part.state === "streaming") || part?.type.startsWith("tool-");
  return (
    <div aria-hidden className="-mt-4 flex h-7 items-center gap-1">
      {!isVisible &&
        ["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
          <span
            key={delay}
            className={`size-1.5 animate-pulse rounded-full bg-muted-foreground ${delay}`}
          />
        ))}
    </div>
  );
}
