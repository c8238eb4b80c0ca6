/** The optional elements around the box: attached files, waiting messages, the context. Loaded on demand. */

import { visibleName } from "@platform/kit/visible-name";
import type { UIMessage } from "ai";
import { useTransition } from "react";
import type { getChatContextContract } from "@/lib/context/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { Button, IconButton } from "../../_ui/button.tsx";
import { formatBytes, formatCompact } from "../../_ui/format.ts";
import { Clock3, Paperclip, Pencil, RotateCw, X, Zap } from "../../_ui/icons.tsx";
import { FileTypeIcon } from "../_message/file-type-icon.tsx";
import type { Attachment } from "../_state/attachment.ts";
import type { Attachments } from "../_state/attachments.ts";
import type { Conversation } from "../_state/conversation.ts";
import { fromParts, hasMessage } from "../_state/message-parts.ts";
import type { QueuedMessage } from "../_state/message-queue.ts";

type AttachmentListProps = Readonly<{ attachments: Attachments; files: readonly Attachment[] }>;

/** The attached files, each with its progress and a button to remove it. */
export const AttachmentList = ({ attachments, files }: AttachmentListProps) => (
  <ul aria-label="Attachments" className="flex max-h-44 flex-wrap gap-2 overflow-y-auto px-3 pt-3">
    {files.map((file) => (
      <AttachmentChip key={file.id} {...{ attachments, file }} />
    ))}
  </ul>
);

type AttachmentChipProps = Readonly<{ attachments: Attachments; file: Attachment }>;

function AttachmentChip({ attachments, file }: AttachmentChipProps) {
  const { id, size, mediaType, previewUrl, state } = file;
  const name = visibleName(file.name);
  const isFailed = state.kind === "failed";
  return (
    <li
      className={`relative flex w-60 max-w-full items-center gap-2.5 overflow-hidden rounded-xl border p-1.5 ${isFailed ? "border-danger-text/40 bg-danger-soft" : "bg-background"}`}
    >
      {previewUrl === null ? (
        <FileTypeIcon name={name} mediaType={mediaType} />
      ) : (
        // biome-ignore lint/performance/noImgElement: it is an object URL
        <img src={previewUrl} alt="" className="size-10 shrink-0 rounded-lg object-cover" />
      )}
      <span className="min-w-0 flex-1 text-sm leading-tight">
        <span title={name} className="block truncate font-medium">
          {name}
        </span>
        <span
          className={`block text-xs ${isFailed ? "text-danger-text" : "truncate text-muted-foreground"}`}
        >
          {describe(state, size)}
        </span>
      </span>
      {isFailed && state.canRetry && (
        <IconButton
          icon={RotateCw}
          className="size-6"
          label={`Retry ${name}`}
          onClick={() => attachments.retry(id)}
        />
      )}
      <IconButton
        icon={X}
        className="size-6"
        label={`Remove ${name}`}
        onClick={() => attachments.remove(id)}
      />
      {state.kind === "uploading" && (
        <progress
          aria-label={`Uploading ${name}`}
          max={100}
          value={percent(state.sentBytes, size)}
          className="absolute inset-x-0 bottom-0 h-0.5 w-full appearance-none bg-muted [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-muted [&::-webkit-progress-value]:bg-accent [&::-webkit-progress-value]:transition-[width]"
        />
      )}
    </li>
  );
}

function describe(state: Attachment["state"], size: number | null): string {
  if (state.kind === "failed") return state.text;
  if (size === null) return "Uploaded";
  if (state.kind === "ready") return formatBytes(size);
  const sent = state.sentBytes === 0 ? "Waiting…" : `${percent(state.sentBytes, size)}%`;
  return `${formatBytes(size)} · ${sent}`;
}

const percent = (sentBytes: number, size: number | null): number =>
  size === null || size === 0 ? 0 : Math.min(100, Math.round((100 * sentBytes) / size));

interface QueuedMessagesProps {
  readonly conversation: Conversation;
  readonly queued: readonly QueuedMessage[];
  /** The displayed messages. */
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
  const label = text || visibleName(files.map(({ filename }) => filename).join(", "));
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

export type ChatContext = Answer<typeof getChatContextContract>;

const LABELS: Readonly<Record<ChatContext["parts"][number]["kind"], string>> = {
  system: "Instructions and tools",
  skills: "Skills",
  memory: "Memory",
  messages: "Messages",
  tool_results: "Tool results",
  summary: "Summary",
};

export function ContextParts({ id, context }: Readonly<{ id: string; context: ChatContext }>) {
  const { tokens, budget, window, parts } = context;
  return (
    <div
      role="tooltip"
      id={id}
      className="absolute right-0 bottom-full z-20 w-60 rounded-lg border bg-surface p-3 text-xs shadow-lg animate-appear"
    >
      <p className="font-medium">
        {`${formatCompact(tokens)} of ${formatCompact(budget)} tokens used`}
      </p>
      <p className="text-muted-foreground">
        {`The model's context window has ${formatCompact(window)}.`}
      </p>
      {parts.map((part) => (
        <p key={part.kind} className="mt-1 flex justify-between gap-4">
          <span>{`${LABELS[part.kind]} `}</span>
          <span className="tabular-nums">{formatCompact(part.tokens)}</span>
        </p>
      ))}
    </div>
  );
}
