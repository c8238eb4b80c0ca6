"use client";
import { MessageSquarePlus, Pencil, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { type RefObject, useState } from "react";
import { api } from "@/app/(console)/_api/request.ts";
import { publishChatEvent } from "@/app/(console)/chat/_state/chat-events.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import { Button } from "../../_ui/button.tsx";
import { Dialog, DialogActions, DialogClose } from "../../_ui/dialog.tsx";
import { AnchoredMenu, MenuItem, MenuSeparator } from "../../_ui/dropdown-menu.tsx";
import { toast } from "../../_ui/toast.tsx";
import type { RowTarget } from "./row-target.ts";

/** The menu of actions for a chat or a session. */
export function RowMenu({
  target,
  button,
  openedByKey,
  open,
  onOpenChange,
  onRename,
}: {
  readonly target: RowTarget;
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly openedByKey: RefObject<boolean>;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onRename: () => void;
}) {
  const { title, sessionId } = target;
  const [isDeleting, setDeleting] = useState(false);
  const router = useRouter();
  const addChat = async () => {
    const result = await api<{ chat: Chat }>(`/api/sessions/${sessionId}/chats`, { body: {} });
    if (!result.ok) {
      toast(result.error.message, "danger");
      return;
    }
    const { chat } = result.data;
    publishChatEvent({ sessionId, chatId: chat.id, type: "changed" });
    router.push(`/chat/${sessionId}/${chat.id}`);
  };
  return (
    <>
      <AnchoredMenu
        label={`Actions for ${title}`}
        button={button}
        openedByKey={openedByKey}
        open={open}
        onOpenChange={onOpenChange}
      >
        <MenuItem onSelect={() => setTimeout(onRename)}>
          <Pencil aria-hidden />
          Rename
        </MenuItem>
        <MenuItem onSelect={() => void addChat()}>
          <MessageSquarePlus aria-hidden />
          New chat in this sandbox
        </MenuItem>
        <MenuSeparator />
        <MenuItem danger onSelect={() => setDeleting(true)}>
          <Trash2 aria-hidden />
          Delete
        </MenuItem>
      </AnchoredMenu>
      {isDeleting && <DeleteDialog target={target} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteDialog({
  target: { title, sessionId, chatId, deletes, isCurrent },
  onClose,
}: {
  readonly target: RowTarget;
  readonly onClose: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const router = useRouter();
  const remove = async () => {
    setBusy(true);
    const session = `/api/sessions/${sessionId}`;
    const path = deletes === "session" ? session : `${session}/chats/${chatId}`;
    const result = await api(path, { method: "DELETE" });
    setBusy(false);
    if (!result.ok && result.error.status !== 404) {
      toast(result.error.message, "danger");
      return;
    }
    onClose();
    if (isCurrent) router.push("/chat");
    publishChatEvent({ sessionId, chatId: deletes === "session" ? null : chatId, type: "deleted" });
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete “${title}”?`}
      description={
        deletes === "session"
          ? "This permanently deletes its messages and the files in its sandbox."
          : "This permanently deletes its messages. The sandbox is kept for the other chats of this session."
      }
    >
      <DialogActions>
        <DialogClose asChild>
          <Button variant="outline">Cancel</Button>
        </DialogClose>
        <Button variant="danger" busy={isBusy} onClick={() => void remove()}>
          Delete
        </Button>
      </DialogActions>
    </Dialog>
  );
}
