import type { Chat } from "@/lib/sessions/session.ts";
import { api } from "../../_api/request.ts";
import { ConfirmDialog } from "../../_ui/dialog.tsx";
import { publishChatEvent } from "../_state/chat-events.ts";
import { addressOf } from "./row-target.ts";

const MAX_IDS = 100;

interface DeleteChatsDialogProps {
  readonly title: string;
  readonly chats: readonly Chat[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks before chats are deleted. */
export function DeleteChatsDialog({ title, chats, onClose, onDeleted }: DeleteChatsDialogProps) {
  const remove = async () => {
    for (let at = 0; at < chats.length; at += MAX_IDS) {
      const batch = chats.slice(at, at + MAX_IDS);
      const body = { ids: batch.map(({ id }) => id) };
      const result = await api("/api/chats/delete", { body });
      if (!result.ok) return result.error.message;
      for (const chat of batch) publishChatEvent({ ...addressOf(chat), type: "deleted" });
    }
    onDeleted();
    return null;
  };
  return (
    <ConfirmDialog
      title={title}
      description={
        chats.length === 1
          ? "This permanently deletes its messages, and its files unless another chat uses them."
          : "This permanently deletes their messages, and their files unless another chat uses them."
      }
      confirm="Delete"
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
