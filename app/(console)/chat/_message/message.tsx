import type { UIMessage } from "ai";
import type { ReactNode } from "react";
import { keyed } from "../../_ui/keyed.ts";
import { MessageFiles } from "./message-files.tsx";

type MessageProps = Readonly<{ author: string; className?: string; children: ReactNode }>;

/**
 * A message. Its heading lets users of screen readers jump from message to message. The element has
 * a position, so the heading scrolls along.
 */
export const Message = ({ author, className = "", children }: MessageProps) => (
  <article aria-label={author} className={`relative ${className}`}>
    <h2 className="sr-only">{author}</h2>
    {children}
  </article>
);

export const UserText = ({ children }: { readonly children: string }) => (
  <p className="max-w-[85%] rounded-2xl rounded-br-md bg-muted px-3.5 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
    {children}
  </p>
);

/** The files and the text that a person has sent. */
export const WrittenParts = ({ parts }: Pick<UIMessage, "parts">) => (
  <>
    <MessageFiles files={parts.filter((part) => part.type === "file")} />
    {keyed(parts).map(({ key, item: part }) =>
      part.type === "text" ? <UserText key={key}>{part.text}</UserText> : null,
    )}
  </>
);

/** Shows that the agent is working. It reserves the height of a message's footer, even while it is hidden. */
export const TypingIndicator = ({ isHidden = false }: { readonly isHidden?: boolean }) => (
  <div aria-hidden className="-mt-4 flex h-7 items-center gap-1">
    {!isHidden &&
      ["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
        <span
          key={delay}
          className={`size-1.5 animate-pulse rounded-full bg-muted-foreground ${delay}`}
        />
      ))}
  </div>
);
