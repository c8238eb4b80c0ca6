"use client";
import { type ReactNode, useCallback } from "react";
import { ModelPicker } from "../_models/model-picker.tsx";
import { type Model, useModels } from "../_models/use-models.ts";
import { formatUsd } from "../_ui/format-number.ts";
import { Composer } from "../chat/_conversation/composer.tsx";
import { FileDrop } from "../chat/_conversation/file-drop.tsx";
import { MessageList } from "../chat/_conversation/message-list.tsx";
import { Notices } from "../chat/_conversation/notices.tsx";
import { type ShownConversation, useConversation } from "../chat/_conversation/use-conversation.ts";
import { useEscape } from "../chat/_conversation/use-escape.ts";
import type { ChatAddress } from "../chat/_state/attachment.ts";
import { numberAt, textAt, valueAt } from "../chat/_state/tool-call.ts";
import { FilesSessionContext } from "../chat/_tools/file-link.tsx";
import type { PlaygroundSetup } from "./setup.ts";
import { usePlaygroundChats } from "./use-playground-chats.ts";

const TOKENS_OF_A_PRICE = 1_000_000;

type ComposerProps = ReturnType<typeof usePlaygroundChats>["composer"];

/** The playground with two models: both answer the same messages, with the same setup. */
export function ComparedChats({
  setup,
  onChange,
  onSent,
}: {
  readonly setup: PlaygroundSetup;
  readonly onChange: (change: Partial<PlaygroundSetup>) => void;
  readonly onSent: (text: string) => void;
}) {
  const { data } = useModels();
  const first = setup.modelId || data?.default || "";
  const other = data?.models.find(({ id }) => id !== first)?.id ?? first;
  const second = setup.secondModelId || other;
  const { chats, errorText, composer } = usePlaygroundChats(setup, [first, second], onSent);
  const heads = [
    <ModelPicker key="1" value={first} onChoose={(modelId) => onChange({ modelId })} />,
    <ModelPicker key="2" value={second} onChoose={(id) => onChange({ secondModelId: id })} />,
  ] as const;
  const [left, right] = chats ?? [];
  const { isStarting, ...shared } = composer;
  return (
    <FileDrop
      onFiles={(dropped) => composer.attachments.add(dropped)}
      className="@container relative flex min-h-0 min-w-0 flex-1 flex-col"
    >
      {left && right ? (
        <Conversations
          chats={[left, right]}
          heads={heads}
          models={data?.models ?? []}
          composer={composer}
        />
      ) : (
        <>
          <Columns
            heads={heads}
            bodies={[
              <Note key="1" text="The first model answers here." />,
              <Note key="2" text="The second model answers the same message here." />,
            ]}
          />
          <Composer
            draftKey="playground"
            isBusy={isStarting}
            isStopping={isStarting}
            canSend={first !== ""}
            placeholder="Message both agents"
            onStop={() => {}}
            {...shared}
          />
        </>
      )}
      {errorText !== null && (
        <p role="alert" className="px-4 pb-3 text-center text-sm text-danger-text">
          {errorText}
        </p>
      )}
    </FileDrop>
  );
}

function Conversations({
  chats: [left, right],
  heads,
  models,
  composer: { isStarting, returned, onReturnedTaken, ...composer },
}: {
  readonly chats: readonly [ChatAddress, ChatAddress];
  readonly heads: readonly [ReactNode, ReactNode];
  readonly models: readonly Model[];
  readonly composer: ComposerProps;
}) {
  const first = useConversation(left.sessionId, left.chatId);
  const second = useConversation(right.sessionId, right.chatId);
  const both = [first, second] as const;
  const isBusy = both.some((one) => one.isBusy);
  const stop = useCallback(() => {
    first.conversation.stop();
    second.conversation.stop();
  }, [first.conversation, second.conversation]);
  useEscape(isBusy ? stop : null);
  const takeReturned = useCallback(() => {
    onReturnedTaken();
    first.conversation.takeReturned();
    second.conversation.takeReturned();
  }, [first.conversation, second.conversation, onReturnedTaken]);
  return (
    <FilesSessionContext value={left.sessionId}>
      <Columns
        heads={heads}
        costs={[
          <Cost key="1" shown={first} models={models} />,
          <Cost key="2" shown={second} models={models} />,
        ]}
        bodies={[
          <Answers key="1" shown={first} label="Conversation with the first model" />,
          <Answers key="2" shown={second} label="Conversation with the second model" />,
        ]}
      />
      <Composer
        draftKey={left.chatId}
        isBusy={isBusy}
        isStopping={both.some(({ view }) => view.isStopping)}
        canSend={!isStarting && both.every(({ view }) => view.phase === "ready")}
        returned={returned ?? first.view.returned ?? second.view.returned}
        onReturnedTaken={takeReturned}
        placeholder="Message both agents"
        onStop={stop}
        {...composer}
      />
    </FilesSessionContext>
  );
}

function Answers({
  shown: { conversation, view, messages },
  label,
}: {
  readonly shown: ShownConversation;
  readonly label: string;
}) {
  return (
    <>
      <MessageList
        label={label}
        messages={messages}
        sentMessageId={view.sentMessageId}
        isBusy={view.isReading}
        onAnswer={conversation.answer}
      />
      <Notices
        view={view}
        messages={messages}
        onRetry={null}
        onDismiss={() => conversation.dismissError()}
      />
    </>
  );
}

/** What the newest answer cost, by the list prices of its model. */
function Cost({
  shown: { messages },
  models,
}: {
  readonly shown: ShownConversation;
  readonly models: readonly Model[];
}) {
  const metadata = messages.findLast(({ role }) => role === "assistant")?.metadata;
  const usage = valueAt(metadata, "usage");
  const price = models.find(({ id }) => id === textAt(metadata, "modelId"))?.pricing;
  const input = numberAt(usage, "inputTokens");
  const output = numberAt(usage, "outputTokens");
  if (!price || input === null || output === null) return null;
  return (
    <span
      title="The newest answer, by the model's list prices"
      className="shrink-0 text-xs text-muted-foreground tabular-nums"
    >
      {formatUsd((input * price.input + output * price.output) / TOKENS_OF_A_PRICE)}
    </span>
  );
}

/** Two columns, or two rows where there is no room. */
function Columns({
  heads,
  costs,
  bodies,
}: {
  readonly heads: readonly [ReactNode, ReactNode];
  readonly costs?: readonly [ReactNode, ReactNode];
  readonly bodies: readonly [ReactNode, ReactNode];
}) {
  return (
    <div className="mb-3 grid min-h-0 flex-1 auto-rows-fr border-b @2xl:grid-cols-2">
      {(["First model", "Second model"] as const).map((label, index) => (
        <section
          key={label}
          aria-label={label}
          className="flex min-h-0 min-w-0 flex-col not-first:border-t @2xl:not-first:border-t-0 @2xl:not-first:border-l"
        >
          <div className="flex h-10 shrink-0 items-center justify-between gap-2 border-b bg-muted/40 pr-4 pl-2">
            {heads[index]}
            {costs?.[index]}
          </div>
          {bodies[index]}
        </section>
      ))}
    </div>
  );
}

function Note({ text }: { readonly text: string }) {
  return (
    <p className="grid min-h-0 flex-1 place-content-center px-6 text-center text-sm text-balance text-muted-foreground">
      {text}
    </p>
  );
}
