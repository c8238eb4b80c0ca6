/** Actions on the chats of the list, single or several. Loaded on demand. */

import { useRouter } from "next/navigation";
import { useState, useTransition } from "react";
import { flushSync } from "react-dom";
import type { Chat } from "@/lib/sessions/session.ts";
import { api } from "../../_api/request.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button } from "../../_ui/button.tsx";
import { ConfirmDialog } from "../../_ui/dialog.tsx";
import { AnchoredMenu, MenuItem, MenuSeparator } from "../../_ui/dropdown-menu.tsx";
import {
  Archive,
  ArchiveRestore,
  Code2,
  Download,
  FileJson,
  ListChecks,
  MessageSquarePlus,
  MessagesSquare,
  Pencil,
  Pin,
  PinOff,
  Share2,
  Trash2,
} from "../../_ui/icons.tsx";
import type { MenuState } from "../../_ui/menu-button.tsx";
import { download } from "../../_ui/save-file.ts";
import { toast } from "../../_ui/toast.tsx";
import { publishChatEvent } from "../_state/chat-events.ts";
import { type ActionTarget, addressOf, changeChat, pathOf } from "./row-target.ts";
import { titleOfChat } from "./use-chat-list.ts";

const ShareDialog = lazyComponent(() => import("./share-dialog.tsx"), "ShareDialog");

type RowMenuProps = MenuState & {
  readonly chat: ActionTarget;
  readonly isCurrent: boolean;
  readonly onRename: () => void;
  readonly onCode?: (() => void) | undefined;
};

/** The menu of actions for a chat. */
export function RowMenu({ chat, isCurrent, onRename, onCode, ...state }: RowMenuProps) {
  const { pinned, archived } = chat;
  const title = titleOfChat(chat);
  const path = pathOf(addressOf(chat));
  const [dialog, setDialog] = useState<"delete" | "share" | null>(null);
  const router = useRouter();
  const close = () => {
    // An open dialog keeps the focus.
    flushSync(() => setDialog(null));
    state.button.current?.focus();
  };
  const archive = async () => {
    if (!(await changeChat(chat, { archived: !archived }))) return;
    toast(archived ? "Moved back to your chats." : "Archived. Search still finds the chat.");
  };
  return (
    <>
      <AnchoredMenu {...state} label={`Actions for ${title}`}>
        <MenuItem icon={Pencil} onSelect={() => setTimeout(onRename)}>
          Rename
        </MenuItem>
        {pinned !== undefined && !archived && (
          <MenuItem
            icon={pinned ? PinOff : Pin}
            onSelect={() => void changeChat(chat, { pinned: !pinned })}
          >
            {pinned ? "Unpin" : "Pin"}
          </MenuItem>
        )}
        <MenuItem icon={Share2} onSelect={() => setDialog("share")}>
          Share…
        </MenuItem>
        <MenuItem icon={Download} onSelect={() => void download(`${path}/export?format=markdown`)}>
          Export as Markdown
        </MenuItem>
        <MenuItem icon={FileJson} onSelect={() => void download(`${path}/export?format=json`)}>
          Export as JSON
        </MenuItem>
        <MenuItem
          icon={MessageSquarePlus}
          onSelect={() => router.push(`/chat?session=${chat.sessionId}`)}
        >
          New chat with the same files
        </MenuItem>
        {onCode && (
          <MenuItem icon={Code2} onSelect={() => setTimeout(onCode)}>
            View as code
          </MenuItem>
        )}
        <MenuSeparator />
        {archived !== undefined && (
          <MenuItem icon={archived ? ArchiveRestore : Archive} onSelect={() => void archive()}>
            {archived ? "Unarchive" : "Archive"}
          </MenuItem>
        )}
        <MenuItem icon={Trash2} danger onSelect={() => setDialog("delete")}>
          Delete
        </MenuItem>
      </AnchoredMenu>
      {dialog === "share" && <ShareDialog chat={chat} onClose={close} />}
      {dialog === "delete" && (
        <DeleteChatsDialog
          title={`Delete “${title}”?`}
          chats={[chat]}
          onClose={close}
          onDeleted={() => isCurrent && router.push("/chat")}
        />
      )}
    </>
  );
}

type ListMenuProps = MenuState & {
  readonly isArchived: boolean;
  readonly onSelect: () => void;
  readonly onArchived: (isArchived: boolean) => void;
};

/** The menu of the whole list. */
export const ListMenu = ({ isArchived, onSelect, onArchived, ...state }: ListMenuProps) => (
  <AnchoredMenu {...state} label="Chat list">
    <MenuItem icon={ListChecks} onSelect={onSelect}>
      Select chats
    </MenuItem>
    <MenuItem icon={isArchived ? MessagesSquare : Archive} onSelect={() => onArchived(!isArchived)}>
      {isArchived ? "Show all chats" : "Show archived chats"}
    </MenuItem>
  </AnchoredMenu>
);

interface SelectionBarProps {
  readonly chats: readonly Chat[];
  readonly isArchived: boolean;
  readonly onSelectAll: () => void;
  readonly onDone: () => void;
  readonly onDeleted: (chats: readonly Chat[]) => void;
}

/** The actions for all chats that are selected in the list. */
export function SelectionBar(props: SelectionBarProps) {
  const { chats, isArchived, onSelectAll, onDone, onDeleted } = props;
  const [isDeleting, setDeleting] = useState(false);
  const [isMoving, startMoving] = useTransition();
  const count = chats.length;
  const move = async () => {
    for (const chat of chats) {
      if (!(await changeChat(chat, { archived: !isArchived }))) return;
    }
    onDone();
  };
  return (
    <section
      aria-label="Selected chats"
      className="flex shrink-0 flex-col gap-2 border-t bg-surface px-3 py-2"
    >
      <div className="flex items-center gap-1">
        <p role="status" className="min-w-0 flex-1 truncate text-sm font-medium">
          {count} selected
        </p>
        <Button variant="ghost" size="sm" onClick={onSelectAll}>
          Select all
        </Button>
        <Button variant="ghost" size="sm" onClick={onDone}>
          Done
        </Button>
      </div>
      <div className="grid grid-cols-2 gap-2">
        <Button
          icon={isArchived ? ArchiveRestore : Archive}
          variant="outline"
          size="sm"
          disabled={count === 0}
          busy={isMoving}
          onClick={() => startMoving(move)}
        >
          {isArchived ? "Unarchive" : "Archive"}
        </Button>
        <Button
          icon={Trash2}
          variant="outline"
          size="sm"
          className="text-danger-text"
          disabled={count === 0}
          onClick={() => setDeleting(true)}
        >
          Delete
        </Button>
      </div>
      {isDeleting && (
        <DeleteChatsDialog
          title={count === 1 ? "Delete this chat?" : `Delete ${count.toLocaleString("en")} chats?`}
          chats={chats}
          onClose={() => setDeleting(false)}
          onDeleted={() => onDeleted(chats)}
        />
      )}
    </section>
  );
}

const MAX_IDS = 100;

interface DeleteChatsDialogProps {
  readonly title: string;
  readonly chats: readonly Chat[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks before chats are deleted. */
function DeleteChatsDialog({ title, chats, onClose, onDeleted }: DeleteChatsDialogProps) {
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
