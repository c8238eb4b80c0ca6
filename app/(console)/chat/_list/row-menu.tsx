"use client";
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
} from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { AnchoredMenu, MenuItem, MenuSeparator } from "../../_ui/dropdown-menu.tsx";
import type { MenuState } from "../../_ui/menu-button.tsx";
import { download } from "../../_ui/save-file.ts";
import { toast } from "../../_ui/toast.tsx";
import { DeleteChatsDialog } from "./delete-chats-dialog.tsx";
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
    setDialog(null);
    // While the dialog is there, it keeps the focus.
    setTimeout(() => state.button.current?.focus());
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
export function ListMenu({ isArchived, onSelect, onArchived, ...state }: ListMenuProps) {
  return (
    <AnchoredMenu {...state} label="Chat list">
      <MenuItem icon={ListChecks} onSelect={onSelect}>
        Select chats
      </MenuItem>
      <MenuItem
        icon={isArchived ? MessagesSquare : Archive}
        onSelect={() => onArchived(!isArchived)}
      >
        {isArchived ? "Show all chats" : "Show archived chats"}
      </MenuItem>
    </AnchoredMenu>
  );
}
