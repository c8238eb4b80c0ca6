import type { UIMessage } from "ai";
import { Clock3, Paperclip, Pencil, X, Zap } from "lucide-react";
import { useTransition } from "react";
import { Button, IconButton } from "../../_ui/button.tsx";
import type { Conversation } from "../_state/conversation.ts";
import { fromParts, hasMessage } from "../_state/message-parts.ts";
import type { QueuedMessage } from "../_state/message-queue.ts";

interface QueuedMessagesProps {
  readonly conversation: Conversation;
  readonly queued: readonly QueuedMessage[];
  /** What the conversation shows. */
  readonly messages: readonly UIMessage[];
}

/** The messages that have not reached the agent yet. */
export function QueuedMessages({ conversation, queued, messages }: QueuedMessagesProps) {
  const waiting = queued.filter(({ id }) => !hasMessage(messages, id));
  if (waiting.length === 0) return null;
  return (
    <section aria-label="Queued messages" className="mx-auto w-full max-w-3xl px-4">
      <div className="mx-3 rounded-t-xl border border-b-0 bg-muted/60">
        <h2 className="flex items-center gap-1.5 px-3 pt-2 text-xs font-medium text-muted-foreground">
          <Clock3 aria-hidden className="size-3.5" />
          Sent at the agent’s next step
        </h2>
        <ol className="flex max-h-40 flex-col overflow-y-auto pt-0.5 pb-1.5">
          {waiting.map((message) => (
            <QueuedRow key={message.id} conversation={conversation} message={message} />
          ))}
        </ol>
      </div>
    </section>
  );
}

type QueuedRowProps = Readonly<{ conversation: Conversation; message: QueuedMessage }>;

function QueuedRow({ conversation, message: { id, parts, state } }: QueuedRowProps) {
  const [busy, start] = useTransition();
  const { text, files } = fromParts(parts);
  const label = text || files.map(({ filename }) => filename).join(", ");
  const isDisabled = busy || state === "sending";
  return (
    <li className="flex items-center gap-1 pr-1.5 pl-3 text-sm" aria-busy={isDisabled || undefined}>
      <span className="min-w-0 flex-1 truncate" title={label}>
        {label}
      </span>
      {files.length > 0 && text !== "" && (
        <span className="flex shrink-0 items-center gap-1 px-1 text-xs text-muted-foreground">
          <Paperclip aria-hidden className="size-3" />
          {files.length}
          <span className="sr-only">{files.length === 1 ? "file" : "files"}</span>
        </span>
      )}
      <Button
        icon={Zap}
        variant="ghost"
        size="sm"
        className="px-2 text-xs [&_svg]:size-3.5"
        disabled={isDisabled}
        title="Stop the agent and send this message"
        onClick={() => start(() => conversation.sendNow(id))}
      >
        <span className="max-sm:sr-only">Send now</span>
      </Button>
      <IconButton
        icon={Pencil}
        label={`Edit queued message: ${label}`}
        title="Edit"
        disabled={isDisabled}
        onClick={() => start(() => conversation.unqueue(id, true))}
      />
      <IconButton
        icon={X}
        label={`Remove queued message: ${label}`}
        title="Remove"
        disabled={isDisabled}
        onClick={() => start(() => conversation.unqueue(id, false))}
      />
    </li>
  );
}
