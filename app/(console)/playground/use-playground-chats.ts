"use client";
import type { FileUIPart } from "ai";
import { useEffect, useRef, useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import { api } from "../_api/request.ts";
import { chooseConnectors } from "../_connectors/use-chat-connectors.ts";
import { useDraftChat } from "../chat/_conversation/use-draft-chat.ts";
import type { ChatAddress } from "../chat/_state/attachment.ts";
import { attachmentsOf } from "../chat/_state/attachments.ts";
import type { ChatError } from "../chat/_state/chat-error.ts";
import { publishChatEvent } from "../chat/_state/chat-events.ts";
import type { SentMessage } from "../chat/_state/drafts.ts";
import { openConversation, retainConversation } from "../chat/_state/open-conversations.ts";
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
  const { draft, attachments, returned, setReturned, takeReturned, send } =
    useDraftChat("playground");
  const [chats, setChats] = useState<readonly ChatAddress[] | null>(null);
  const [isStarting, setStarting] = useState(false);
  const [errorText, setErrorText] = useState<string | null>(null);
  const releases = useRef<(() => void)[]>([]);
  // The conversations stay open until the columns show them.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other chats are other columns
  useEffect(() => {
    for (const release of releases.current.splice(0)) release();
  }, [chats]);

  const onSend = async (text: string, files: readonly FileUIPart[]) => {
    const message = { text, files };
    setErrorText(null);
    setStarting(true);
    const failure =
      chats === null
        ? ((await send(message, begin))?.text ?? null)
        : await setUpChats(chats, setup, modelIds);
    setStarting(false);
    setErrorText(failure);
    if (failure !== null) {
      setReturned(message);
      return;
    }
    for (const { sessionId, chatId } of chats ?? []) {
      const conversation = openConversation(sessionId, chatId);
      conversation.contextLimit = readContextLimit(setup.contextLimit) ?? null;
      void conversation.send(text, files);
    }
    onSent(text);
  };
  /** Sends the first message to new chats. It counts as sent once one of them has stored it. */
  const begin = async (message: SentMessage): Promise<ChatError | null> => {
    const created = await createChats(draft, modelIds.length);
    if ("error" in created) return { text: created.error, requestId: null };
    const failure = await setUpChats(created, setup, modelIds);
    if (failure !== null) return { text: failure, requestId: null };
    const refusals = await Promise.all(
      created.map(({ sessionId, chatId }) => {
        const conversation = openConversation(sessionId, chatId);
        releases.current.push(retainConversation(chatId));
        conversation.contextLimit = readContextLimit(setup.contextLimit) ?? null;
        return conversation.begin(message);
      }),
    );
    if (refusals.includes(null)) {
      for (const address of created) publishChatEvent({ ...address, type: "changed" });
      setChats(created);
      return null;
    }
    for (const release of releases.current.splice(0)) release();
    return refusals[0] ?? null;
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
      onReturnedTaken: takeReturned,
      onSend: (text: string, files: readonly FileUIPart[]) => void onSend(text, files),
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
  for (const chat of chats) openConversation(sessionId, chat.id).showChat(chat);
  return chats.map((chat) => ({ sessionId, chatId: chat.id }));
}

/** Returns the text of the error if it fails. */
async function setUpChats(
  chats: readonly ChatAddress[],
  setup: PlaygroundSetup,
  modelIds: readonly string[],
): Promise<string | null> {
  if (readContextLimit(setup.contextLimit) === undefined) return "Correct the context limit first.";
  const failures = await Promise.all(
    chats.map((chat, index) => setUpChat(chat, setup, modelIds[index] ?? "")),
  );
  return failures.find((failure) => failure !== null) ?? null;
}

/** Returns the text of the error if it fails. */
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
