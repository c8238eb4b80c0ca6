import type { FileUIPart } from "ai";
import { useMemo, useState } from "react";
import { api } from "../_api/request.ts";
import { chooseConnectors } from "../_connectors/connectors-picker.tsx";
import { Button } from "../_ui/button.tsx";
import { FlaskConical } from "../_ui/icons.tsx";
import { EmptyState } from "../_ui/states.tsx";
import { Composer, type ComposerProps } from "../chat/_conversation/composer.tsx";
import { ConversationComposer } from "../chat/_conversation/conversation-composer.tsx";
import { FileDrop } from "../chat/_conversation/file-drop.tsx";
import { MessageList } from "../chat/_conversation/message-list.tsx";
import { useDraftChat } from "../chat/_conversation/use-draft-chat.ts";
import { pathOf } from "../chat/_list/row-target.ts";
import type { ChatAddress } from "../chat/_state/attachment.ts";
import { attachmentsOf } from "../chat/_state/attachments.ts";
import type { WrittenMessage } from "../chat/_state/message-parts.ts";
import { openConversation, useConversation } from "../chat/_state/open-conversations.ts";
import { SandboxFilesContext } from "../chat/_tools/file-link.tsx";
import { EXAMPLE, faultOf, type PlaygroundSetup, readNumber, toAgentSetup } from "./setup.ts";

type PlaygroundChatProps = Readonly<{ setup: PlaygroundSetup; onSent: (text: string) => void }>;

/** The chat of the playground. It is set up again before each message. */
export function PlaygroundChat({ setup, onSent }: PlaygroundChatProps) {
  const draft = useDraftChat("playground");
  const [chat, setChat] = useState<ChatAddress | null>(null);
  const [isStarting, setStarting] = useState(false);
  const [errorText, setErrorText] = useState<string | null>(null);

  const send = async (text: string, files: readonly FileUIPart[]) => {
    const message = { text, files };
    setErrorText(null);
    setStarting(true);
    const failure = await (chat ? setUpChat(chat, setup) : begin(message));
    setStarting(false);
    setErrorText(failure?.message ?? null);
    if (failure) return draft.setReturned(message);
    if (chat) void openConversation(chat.sessionId, chat.chatId).send(text, files);
    onSent(text);
  };
  const begin = async (message: WrittenMessage) => {
    const result = await draft.send(message, (created) => setUpChat(created, setup));
    if ("text" in result) return { message: result.text };
    setChat(result);
    return null;
  };
  const composer = {
    ...draft.composer,
    ...(chat && { attachments: attachmentsOf(chat.sessionId, chat.chatId) }),
    placeholder: "Message the agent",
    onSend: (text: string, files: readonly FileUIPart[]) => void send(text, files),
  };
  return (
    <FileDrop
      onFiles={composer.attachments.add}
      className="relative flex min-h-0 min-w-0 flex-1 flex-col"
    >
      {chat ? (
        <StartedChat {...chat} {...composer} isStarting={isStarting} />
      ) : (
        <>
          <div className="flex min-h-0 flex-1 flex-col justify-center overflow-y-auto px-4 py-6">
            <div className="mx-auto w-full max-w-lg">
              <EmptyState
                icon={FlaskConical}
                title="Try an agent"
                text="Give it instructions, choose a model, and send a message. Then view the same as code for your own program."
              >
                <Button
                  variant="outline"
                  onClick={() => draft.setReturned({ text: EXAMPLE, files: [] })}
                >
                  Use an example
                </Button>
              </EmptyState>
            </div>
          </div>
          <Composer {...composer} isBusy={isStarting} />
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

type StartedChatProps = ChatAddress &
  Omit<ComposerProps, "isBusy"> & { readonly isStarting: boolean };

function StartedChat({ isStarting, returned, onReturnedTaken, ...rest }: StartedChatProps) {
  const { sessionId, chatId, ...composer } = rest;
  const shown = useConversation(sessionId, chatId);
  const { conversation, view, messages } = shown;
  const files = useMemo(() => ({ sessionId, open: null }), [sessionId]);
  const takeReturned = () => {
    onReturnedTaken();
    conversation.takeReturned();
  };
  return (
    <>
      <SandboxFilesContext value={files}>
        <MessageList
          messages={messages}
          sentMessageId={view.sentMessageId}
          isBusy={view.isReading}
          answering={conversation}
        />
      </SandboxFilesContext>
      <ConversationComposer
        shown={shown}
        canSend={view.phase === "ready" && !isStarting}
        returned={view.returned ?? returned}
        onReturnedTaken={takeReturned}
        {...composer}
      />
    </>
  );
}

/** Resolves to why it failed, if it did. */
async function setUpChat(address: ChatAddress, setup: PlaygroundSetup) {
  const fault = faultOf(setup);
  if (fault) return { message: `Correct the ${fault.toLowerCase()} first.`, requestId: null };
  const { instructions, templateId, options } = toAgentSetup(setup);
  const body = {
    ...{ tools: "", temperature: "", max_output_tokens: "", ...options },
    ...(setup.modelId && { modelId: setup.modelId }),
    instructions: instructions ?? "",
    templateId: templateId ?? "",
    // A trial is not one of the chats that the list shows.
    archived: true,
  };
  const changed = await api(pathOf(address), { method: "PATCH", body });
  if (!changed.ok) return changed.error;
  const named = await chooseConnectors(address, setup.connectors);
  if (!named.ok) return named.error;
  const conversation = openConversation(address.sessionId, address.chatId);
  conversation.contextLimit = readNumber(setup, "contextLimit") ?? null;
  return null;
}
