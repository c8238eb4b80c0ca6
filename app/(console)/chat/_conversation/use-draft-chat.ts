import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import { type ApiError, type ApiResult, api } from "../../_api/request.ts";
import { isOutdated, loadModule } from "../../_load/load-module.ts";
import { scopeOfSession } from "../../_session/scope.ts";
import { addressOf, pageOf, pathOf } from "../_list/row-target.ts";
import type { ChatAddress } from "../_state/attachment.ts";
import { Attachments } from "../_state/attachments.ts";
import { type ChatError, outdatedPage, unreachableChat } from "../_state/chat-error.ts";
import { publishChatEvent } from "../_state/chat-events.ts";
import type { Conversation } from "../_state/conversation.ts";
import { forgetUnsent, keepUnsent, readUnsent, type UnsentMessage } from "../_state/drafts.ts";
import type { StoredChat, WrittenMessage } from "../_state/message-parts.ts";

type Failure = Pick<ApiError, "message" | "requestId">;

/** Sets a chat up before its first message, or resolves to why that failed. */
export type SetUp = (
  address: ChatAddress,
  conversation: Conversation,
  /** False if it was created with the setup of the message. */
  isOlder: boolean,
) => Promise<Failure | null>;

export const toRefusal = ({ message, requestId }: Failure): ChatError => ({
  text: message,
  requestId,
});

/** Resolves to null when the module cannot be loaded. A page that only offers a new chat does without it. */
const loadConversations = () =>
  loadModule(() => import("../_state/open-conversations.ts")).catch(() => null);

/** The ids of first messages that this page is sending. Others were left behind by a reload. */
const inFlight = new Set<string>();

/**
 * Returns a chat that does not exist yet. If no message is stored, the objects created for it are
 * deleted, unless the chat has files. These stay with the draft, even after a reload.
 *
 * @param sessionId the session that the chat belongs to; null for a new one
 */
export function useDraftChat(draftKey: string, sessionId: string | null = null) {
  const router = useRouter();
  const [draft] = useState(() => new DraftChat(sessionId));
  const [attachments] = useState(() => {
    const resume = (address: ChatAddress) => draft.resume(address);
    const findChat = async () => {
      const created = await draft.create();
      return created.ok ? addressOf(created.data.chat) : { error: created.error.message };
    };
    return new Attachments({ draftKey, resume, findChat });
  });
  const [returned, setReturned] = useState<WrittenMessage | null>(null);
  const onReturnedTaken = () => setReturned(null);
  const isMounted = useRef(false);

  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
      const isSending = readUnsent(draftKey).length > 0;
      if (!attachments.leave() && !isSending) void draft.discard();
    };
  }, [draft, attachments, draftKey]);

  useEffect(() => {
    for (const unsent of readUnsent(draftKey)) {
      if (inFlight.has(unsent.id)) continue;
      void draft.recover(unsent).then((isStored) => {
        if (!isMounted.current) return;
        forgetUnsent(unsent.id);
        if (isStored && unsent.chat) router.replace(pageOf(unsent.chat));
        else setReturned(unsent);
      });
    }
  }, [draft, draftKey, router]);

  /** Creates the chat, sets it up, and sends its first message. */
  const begin = async (unsent: UnsentMessage, setUp: SetUp, setup?: ChatSetup) => {
    const isOlder = draft.isCreated;
    const [created, conversations] = await Promise.all([draft.create(setup), loadConversations()]);
    if (!created.ok) return toRefusal(created.error);
    if (conversations === null) return isOutdated() ? outdatedPage : unreachableChat;
    const { chat } = created.data;
    const address = addressOf(chat);
    keepUnsent({ ...unsent, chat: address });
    const conversation = conversations.openConversation(address.sessionId, address.chatId);
    conversation.showChat(chat);
    conversation.showConnectors(setup?.connectors);
    const failure = await setUp(address, conversation, isOlder);
    if (failure) return toRefusal(failure);
    const refusal = await conversation.begin(unsent);
    if (refusal) return refusal;
    publishChatEvent({ ...address, type: "changed" });
    return address;
  };
  /**
   * Starts the chat with a message. Resolves to its address once the message is stored, or to why it was
   * refused. A page that was left in the meantime finds the refused message when it is shown again.
   */
  const send = async (message: WrittenMessage, setUp: SetUp, setup?: ChatSetup) => {
    const unsent = { ...message, id: crypto.randomUUID(), draftKey, chat: null };
    keepUnsent(unsent);
    inFlight.add(unsent.id);
    const result = await begin(unsent, setUp, setup);
    inFlight.delete(unsent.id);
    const isRefused = "text" in result;
    if (!isRefused) draft.release();
    else if (message.files.length === 0) await draft.discard();
    if (isRefused && !isMounted.current) return result;
    forgetUnsent(unsent.id);
    if (isRefused) setReturned(message);
    return result;
  };
  const composer = { draftKey, attachments, returned, onReturnedTaken };
  return { composer, setReturned, send, isMounted };
}

type CreatedChat = ApiResult<{ readonly chat: Chat }>;

/** The setup of a new chat's agent. An empty model is the default. */
export type ChatSetup = Readonly<{ modelId: string; connectors: readonly string[] }>;

/** The chat that a first message creates. The first file creates it earlier. */
class DraftChat {
  readonly #sessionId: string | null;
  #created: Promise<CreatedChat> | null = null;
  #resumed: ChatAddress | null = null;

  constructor(sessionId: string | null) {
    this.#sessionId = sessionId;
  }

  /** Continues with a chat that was created before the page was loaded. */
  resume(chat: ChatAddress): void {
    this.#resumed = chat;
  }

  /** Continues with a message that a left page was sending. Returns whether the service has stored it. */
  async recover({ id, chat }: UnsentMessage): Promise<boolean> {
    if (chat === null) return false;
    const read = await api<StoredChat>(pathOf(chat));
    if (read.ok && read.data.messages.some((message) => message.id === id)) return true;
    if (read.ok || read.error.status !== 404) this.resume(chat);
    return false;
  }

  /** Whether the chat was created, or is being created. */
  get isCreated(): boolean {
    return this.#created !== null || this.#resumed !== null;
  }

  /** Creates the chat, with its session and sandbox, once. */
  async create(setup: Partial<ChatSetup> = {}): Promise<CreatedChat> {
    this.#created ??= this.#readOrCreate(setup);
    const created = await this.#created;
    if (!created.ok) this.#created = null;
    return created;
  }

  async #readOrCreate({ modelId, connectors }: Partial<ChatSetup>): Promise<CreatedChat> {
    if (this.#resumed !== null) {
      const read = await api<StoredChat>(pathOf(this.#resumed));
      if (read.ok || read.error.status !== 404) return read;
      // It has been deleted.
      this.#resumed = null;
    }
    const sessionId = this.#sessionId;
    const [path, scope] =
      sessionId === null
        ? ["/api/sessions", { ...scopeOfSession(), sandbox: true }]
        : [`/api/sessions/${sessionId}/chats`, {}];
    const body = {
      ...scope,
      ...{ scheduling: true, media_tools: true },
      ...(modelId && { modelId }),
      ...(connectors?.length && { connectors }),
    };
    return api(path, { body });
  }

  release(): void {
    this.#created = null;
    this.#resumed = null;
  }

  /** Deletes the session and chat created for a message that was not stored. */
  async discard(): Promise<void> {
    const creating = this.#created;
    const resumed = this.#resumed;
    // A file that is added during the request starts another chat.
    this.release();
    const created = await creating;
    const address = created?.ok ? addressOf(created.data.chat) : resumed;
    if (address === null) return;
    // Another tab shows the same draft, and may have sent it.
    const read = await api<StoredChat>(pathOf(address));
    if (!read.ok || read.data.messages.length > 0) return;
    const isOwn = this.#sessionId === null;
    await api(isOwn ? `/api/sessions/${address.sessionId}` : pathOf(address), { method: "DELETE" });
  }
}
