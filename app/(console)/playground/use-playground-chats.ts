"use client";
import type { FileUIPart } from "ai";
import { useCallback, useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import { api } from "../_api/request.ts";
import { chooseConnectors } from "../_connectors/use-chat-connectors.ts";
import { useDraftChat } from "../chat/_conversation/use-draft-chat.ts";
import type { ChatAddress } from "../chat/_state/attachment.ts";
import { attachmentsOf } from "../chat/_state/attachments.ts";
import { publishChatEvent } from "../chat/_state/chat-events.ts";
import type { WrittenMessage } from "../chat/_state/message-parts.ts";
import { openConversation } from "../chat/_state/open-conversations.ts";
import { type PlaygroundSetup, readContextLimit, toAgentSetup } from "./setup.ts";

/**
 * Sends messages to one chat for each model. The chats are set up anew before each message, and share a
 * session, so that each agent has the files that are attached.
 *
 * @param modelIds empty for the default model
 */
export function usePlaygroundChats(
  setup: PlaygroundSetup,
  modelIds: readonly string[],
  onSent: (text: string) => void,
) {
  const { draft, attachments } = useDraftChat("playground");
  const [chats, setChats] = useState<readonly ChatAddress[] | null>(null);
  const [isStarting, setStarting] = useState(false);
  const [errorText, setErrorText] = useState<string | null>(null);
  const [returned, setReturned] = useState<WrittenMessage | null>(null);
  const onReturnedTaken = useCallback(() => setReturned(null), []);

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
    const contextLimit = readContextLimit(setup.contextLimit);
    if (contextLimit === undefined) return "Correct the context limit first.";
    const used = chats ?? (await createChats(draft, modelIds.length));
    if ("error" in used) return used.error;
    const failures = await Promise.all(
      used.map((chat, index) => setUpChat(chat, setup, modelIds[index] ?? "")),
    );
    const failure = failures.find((one) => one !== null);
    if (failure !== undefined) return failure;
    for (const { sessionId, chatId } of used) {
      const conversation = openConversation(sessionId, chatId);
      conversation.contextLimit = contextLimit;
      if (chats === null) publishChatEvent({ sessionId, chatId, type: "changed" });
      void conversation.send(text, files);
    }
    onSent(text);
    setChats(used);
    return null;
  };
  const [first] = chats ?? [];
  return {
    /** Null until the first message. */
    chats,
    errorText,
    composer: {
      attachments: first ? attachmentsOf(first.sessionId, first.chatId) : attachments,
      isStarting,
      returned,
      onReturnedTaken,
      onSend: (text: string, files: readonly FileUIPart[]) => void send(text, files),
    },
    fillIn: (text: string) => setReturned({ text, files: [] }),
  };
}

async function createChats(
  draft: ReturnType<typeof useDraftChat>["draft"],
  count: number,
): Promise<readonly ChatAddress[] | { readonly error: string }> {
  const created = await draft.create();
  if (!created.ok) return { error: created.error.message };
  const { sessionId } = created;
  const chats = [created.chat];
  while (chats.length < count) {
    const added = await api<{ chat: Chat }>(`/api/sessions/${sessionId}/chats`, { body: {} });
    if (!added.ok) return { error: added.error.message };
    chats.push(added.data.chat);
  }
  draft.release();
  for (const chat of chats) openConversation(sessionId, chat.id).showChat(chat);
  return chats.map((chat) => ({ sessionId, chatId: chat.id }));
}

/** Returns what to tell if it fails. */
async function setUpChat(
  { sessionId, chatId }: ChatAddress,
  setup: PlaygroundSetup,
  modelId: string,
): Promise<string | null> {
  const { instructions, templateId } = toAgentSetup(setup);
  const body = {
    ...(modelId && { modelId }),
    instructions: instructions ?? "",
    templateId: templateId ?? "",
  };
  const path = `/api/sessions/${sessionId}/chats/${chatId}`;
  const changed = await api(path, { method: "PATCH", body });
  if (!changed.ok) return changed.error.message;
  const named = await chooseConnectors(sessionId, chatId, setup.connectors);
  return named.ok ? null : named.error.message;
}
