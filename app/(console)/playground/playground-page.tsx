"use client";
import type { FileUIPart } from "ai";
import { Code2, FlaskConical, RotateCcw, SlidersHorizontal } from "lucide-react";
import { useCallback, useState } from "react";
import { api } from "../_api/request.ts";
import { chooseConnectors } from "../_connectors/use-chat-connectors.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Button } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { EmptyState } from "../_ui/empty-state.tsx";
import { Composer } from "../chat/_conversation/composer.tsx";
import { FileDrop } from "../chat/_conversation/file-drop.tsx";
import { useDraftChat } from "../chat/_conversation/use-draft-chat.ts";
import { attachmentsOf } from "../chat/_state/attachments.ts";
import { publishChatEvent } from "../chat/_state/chat-events.ts";
import type { WrittenMessage } from "../chat/_state/message-parts.ts";
import { openConversation } from "../chat/_state/open-conversations.ts";
import { PlaygroundChat } from "./playground-chat.tsx";
import { defaultSetup, readContextLimit, toAgentSetup } from "./setup.ts";
import { SetupPanel } from "./setup-panel.tsx";

const CodeDialog = lazyComponent(() =>
  import("../_snippets/code-dialog.tsx").then((module) => module.CodeDialog),
);

const EXAMPLE = "Draft a release plan for a single that comes out in eight weeks";

interface Address {
  readonly sessionId: string;
  readonly chatId: string;
}

/** Tries an agent with instructions, a model and a limit, and shows the same as code. */
export function PlaygroundPage() {
  const { draft, attachments } = useDraftChat();
  const [setup, setSetup] = useState(defaultSetup);
  const [address, setAddress] = useState<Address | null>(null);
  const [lastMessage, setLastMessage] = useState("");
  const [isStarting, setStarting] = useState(false);
  const [errorText, setErrorText] = useState<string | null>(null);
  const [returned, setReturned] = useState<WrittenMessage | null>(null);
  const [isCodeOpen, setCodeOpen] = useState(false);
  const [isSetupOpen, setSetupOpen] = useState(false);
  const takeReturned = useCallback(() => setReturned(null), []);
  const contextLimit = readContextLimit(setup.contextLimit);
  const agent = toAgentSetup(setup);

  /** Sets the chat up as the panel says, and sends the message. */
  const send = async (text: string, files: readonly FileUIPart[]) => {
    setErrorText(null);
    setStarting(true);
    const failure = await begin(text, files);
    setStarting(false);
    if (failure === null) return;
    setErrorText(failure);
    setReturned({ text, files });
  };
  const begin = async (text: string, files: readonly FileUIPart[]): Promise<string | null> => {
    if (contextLimit === undefined) return "Correct the context limit first.";
    const created = address ?? (await newAddress());
    if ("error" in created) return created.error;
    const { sessionId, chatId } = created;
    const change = {
      ...(agent.modelId && { modelId: agent.modelId }),
      instructions: agent.instructions ?? "",
      templateId: agent.templateId ?? "",
    };
    const path = `/api/sessions/${sessionId}/chats/${chatId}`;
    const changed = await api(path, { method: "PATCH", body: change });
    if (!changed.ok) return changed.error.message;
    const named = await chooseConnectors(sessionId, chatId, setup.connectors);
    if (!named.ok) return named.error.message;
    const conversation = openConversation(sessionId, chatId);
    conversation.contextLimit = contextLimit;
    if (address === null) publishChatEvent({ sessionId, chatId, type: "changed" });
    void conversation.send(text, files);
    setLastMessage(text);
    setAddress({ sessionId, chatId });
    return null;
  };
  const newAddress = async () => {
    const created = await draft.create();
    if (!created.ok) return { error: created.error.message };
    draft.release();
    openConversation(created.sessionId, created.chat.id).showChat(created.chat);
    return { sessionId: created.sessionId, chatId: created.chat.id };
  };

  const files = address ? attachmentsOf(address.sessionId, address.chatId) : attachments;
  const shared = { returned, onReturnedTaken: takeReturned, attachments: files, isStarting };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-13 shrink-0 items-center gap-2 border-b px-4">
        <h1 className="min-w-0 flex-1 truncate font-semibold">Playground</h1>
        <Button
          variant="ghost"
          size="sm"
          className="h-8 lg:hidden"
          aria-expanded={isSetupOpen}
          onClick={() => setSetupOpen(!isSetupOpen)}
        >
          <SlidersHorizontal aria-hidden />
          Setup
        </Button>
        {address !== null && (
          <Button variant="ghost" size="sm" className="h-8" onClick={() => setAddress(null)}>
            <RotateCcw aria-hidden />
            Start over
          </Button>
        )}
        <Button variant="outline" size="sm" className="h-8" onClick={() => setCodeOpen(true)}>
          <Code2 aria-hidden />
          View as code
        </Button>
      </header>
      <div className="flex min-h-0 flex-1 max-lg:flex-col">
        <section
          aria-label="Setup"
          className={cn(
            "shrink-0 overflow-y-auto border-r max-lg:max-h-[60%] max-lg:border-r-0 max-lg:border-b lg:w-84",
            !isSetupOpen && "max-lg:hidden",
          )}
        >
          <SetupPanel
            setup={setup}
            onChange={(change) => setSetup((before) => ({ ...before, ...change }))}
          />
        </section>
        <FileDrop
          onFiles={(dropped) => files.add(dropped)}
          className="relative flex min-h-0 min-w-0 flex-1 flex-col"
        >
          {address === null ? (
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
                      onClick={() => setReturned({ text: EXAMPLE, files: [] })}
                    >
                      Use an example
                    </Button>
                  </EmptyState>
                </div>
              </div>
              <Composer
                draftKey="playground"
                isBusy={isStarting}
                isStopping={isStarting}
                canSend
                placeholder="Message the agent"
                onSend={(text, sent) => void send(text, sent)}
                onStop={() => {}}
                {...shared}
              />
            </>
          ) : (
            <PlaygroundChat
              key={address.chatId}
              {...address}
              {...shared}
              onSend={(text, sent) => void send(text, sent)}
            />
          )}
          {errorText !== null && (
            <p role="alert" className="px-4 pb-3 text-center text-sm text-danger-text">
              {errorText}
            </p>
          )}
        </FileDrop>
      </div>
      {isCodeOpen && (
        <CodeDialog
          description="Sets up a chat like this one, sends the message, and prints the answer while it is written."
          scenario={{
            kind: "chat",
            chat: null,
            message: lastMessage || EXAMPLE,
            setup: agent,
            contextLimit: contextLimit ?? null,
          }}
          onClose={() => setCodeOpen(false)}
        />
      )}
    </div>
  );
}
