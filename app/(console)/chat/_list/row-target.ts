import type { Chat, FoundChat } from "@/lib/sessions/session.ts";
import { api } from "../../_api/request.ts";
import { toast } from "../../_ui/toast.tsx";
import type { ChatAddress } from "../_state/attachment.ts";
import { publishChatEvent } from "../_state/chat-events.ts";

type Place = Pick<FoundChat, "pinned" | "archived">;

/** A chat with actions. Whether it is pinned or archived is not known everywhere. */
export type ActionTarget = Chat & Partial<Place>;

export const pathOf = ({ sessionId, chatId }: ChatAddress): string =>
  `/api/sessions/${sessionId}/chats/${chatId}`;

export const addressOf = ({ sessionId, id }: Chat): ChatAddress => ({ sessionId, chatId: id });

export const pageOf = ({ sessionId, chatId }: ChatAddress): string =>
  `/chat/${sessionId}/${chatId}`;

export const hrefOf = (chat: Chat): string => pageOf(addressOf(chat));

/** Returns the address of a chat at the message that a search has found. */
export function hrefOfFound(chat: FoundChat): string {
  const { message_id: message, matched: find = "" } = chat;
  return hrefOf(chat) + (message === undefined ? "" : `?${new URLSearchParams({ message, find })}`);
}

type Change = Partial<Place & Pick<Chat, "title">>;

/** Renames, pins or archives a chat, or shows why that failed. Resolves to whether it succeeded. */
export async function changeChat(chat: Chat, change: Change): Promise<boolean> {
  const address = addressOf(chat);
  const result = await api(pathOf(address), { method: "PATCH", body: change });
  if (!result.ok) toast(result.error.message, "danger");
  publishChatEvent({ ...address, type: change.title === undefined ? "moved" : "changed" });
  return result.ok;
}
