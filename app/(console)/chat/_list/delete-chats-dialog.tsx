"use client";
import { useRef, useState } from "react";
import { api } from "@/app/(console)/_api/request.ts";
import { publishChatEvent } from "@/app/(console)/chat/_state/chat-events.ts";
import { Button } from "../../_ui/button.tsx";
import { Dialog, DialogActions, DialogClose } from "../../_ui/dialog.tsx";
import { toast } from "../../_ui/toast.tsx";

interface ChatToDelete {
  readonly id: string;
  readonly sessionId: string;
}

/** The most that one request deletes. */
const MAX_IDS = 100;

/** Asks before chats are deleted. */
export function DeleteChatsDialog({
  title,
  chats,
  onClose,
  onDeleted,
}: {
  readonly title: string;
  readonly chats: readonly ChatToDelete[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const cancel = useRef<HTMLButtonElement>(null);
  const remove = async () => {
    setBusy(true);
    for (let at = 0; at < chats.length; at += MAX_IDS) {
      const batch = chats.slice(at, at + MAX_IDS);
      const body = { ids: batch.map(({ id }) => id) };
      const result = await api("/api/chats/delete", { body });
      if (!result.ok) {
        setBusy(false);
        toast(result.error.message, "danger");
        return;
      }
      for (const { id: chatId, sessionId } of batch) {
        publishChatEvent({ sessionId, chatId, type: "deleted" });
      }
    }
    onClose();
    onDeleted();
  };
  const isOne = chats.length === 1;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      initialFocus={cancel}
      title={title}
      description={
        isOne
          ? "This permanently deletes its messages, and the files in its sandbox unless another chat uses it."
          : "This permanently deletes their messages, and the files in their sandboxes unless another chat uses them."
      }
    >
      <DialogActions>
        <DialogClose asChild>
          <Button ref={cancel} variant="outline">
            Cancel
          </Button>
        </DialogClose>
        <Button variant="danger" busy={isBusy} onClick={() => void remove()}>
          Delete
        </Button>
      </DialogActions>
    </Dialog>
  );
}
