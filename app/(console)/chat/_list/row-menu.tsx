"use client";
import { MessageSquarePlus, Pencil, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { type RefObject, useState } from "react";
import { api } from "@/app/(console)/_hooks/api.ts";
import { tellChats } from "@/app/(console)/chat/_state/channel.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import { Button } from "../../_ui/button.tsx";
import { Dialog, DialogActions, DialogClose } from "../../_ui/dialog.tsx";
import { AnchoredMenu, MenuItem, MenuSeparator } from "../../_ui/dropdown-menu.tsx";
import { toast } from "../../_ui/toast.tsx";
import type { RowTarget } from "./row.tsx";

/** What can be done to a chat or a session: the menu of the row's button. */
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
    tellChats({ sessionId, chatId: chat.id, what: "changed" });
    router.push(`/chat/${sessionId}/${chat.id}`);
  };
  return (
    <>
      <AnchoredMenu
        label={`Menu of ${title}`}
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
          New chat on the same sandbox
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
    tellChats({ sessionId, chatId: deletes === "session" ? null : chatId, what: "deleted" });
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete “${title}”?`}
      description={
        deletes === "session"
          ? "Its messages and the files of its sandbox are deleted too. This cannot be undone."
          : "Its messages are deleted too. The sandbox stays with the session's other chats."
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
