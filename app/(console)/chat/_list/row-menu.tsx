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
import { api } from "../../_api/request.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { AnchoredMenu, MenuItem, MenuSeparator } from "../../_ui/dropdown-menu.tsx";
import type { MenuState } from "../../_ui/menu-button.tsx";
import { download } from "../../_ui/save-file.ts";
import { toast } from "../../_ui/toast.tsx";
import { publishChatEvent } from "../_state/chat-events.ts";
import { DeleteChatsDialog } from "./delete-chats-dialog.tsx";
import { pathOf, type RowTarget } from "./row-target.ts";

const ShareDialog = lazyComponent(() => import("./share-dialog.tsx"), "ShareDialog");

/** The menu of actions for a chat. */
export function RowMenu({
  target,
  onRename,
  onCode,
  ...state
}: MenuState & {
  readonly target: RowTarget;
  readonly onRename: () => void;
  readonly onCode?: () => void;
}) {
  const { title, sessionId, chatId, isPinned, isArchived, isCurrent } = target;
  const [dialog, setDialog] = useState<"delete" | "share" | null>(null);
  const router = useRouter();
  const close = () => {
    setDialog(null);
    // While the dialog is there, it keeps the focus.
    setTimeout(() => state.button.current?.focus());
  };
  const move = async (change: { readonly pinned?: boolean; readonly archived?: boolean }) => {
    const result = await api(pathOf(target), { method: "PATCH", body: change });
    if (!result.ok) {
      toast(result.error.message, "danger");
      return;
    }
    publishChatEvent({ sessionId, chatId, type: "moved" });
    if (change.archived !== undefined) {
      toast(
        change.archived ? "Archived. Search still finds the chat." : "Moved back to your chats.",
      );
    }
  };
  return (
    <>
      <AnchoredMenu {...state} label={`Actions for ${title}`}>
        <MenuItem icon={Pencil} onSelect={() => setTimeout(onRename)}>
          Rename
        </MenuItem>
        {isPinned !== undefined && !isArchived && (
          <MenuItem
            icon={isPinned ? PinOff : Pin}
            onSelect={() => void move({ pinned: !isPinned })}
          >
            {isPinned ? "Unpin" : "Pin"}
          </MenuItem>
        )}
        <MenuItem icon={Share2} onSelect={() => setDialog("share")}>
          Share…
        </MenuItem>
        <MenuItem
          icon={Download}
          onSelect={() => void download(`${pathOf(target)}/export?format=markdown`)}
        >
          Export as Markdown
        </MenuItem>
        <MenuItem
          icon={FileJson}
          onSelect={() => void download(`${pathOf(target)}/export?format=json`)}
        >
          Export as JSON
        </MenuItem>
        <MenuItem
          icon={MessageSquarePlus}
          onSelect={() => router.push(`/chat?session=${sessionId}`)}
        >
          New chat with the same files
        </MenuItem>
        {onCode && (
          <MenuItem icon={Code2} onSelect={() => setTimeout(onCode)}>
            View as code
          </MenuItem>
        )}
        <MenuSeparator />
        {isArchived !== undefined && (
          <MenuItem
            icon={isArchived ? ArchiveRestore : Archive}
            onSelect={() => void move({ archived: !isArchived })}
          >
            {isArchived ? "Unarchive" : "Archive"}
          </MenuItem>
        )}
        <MenuItem icon={Trash2} danger onSelect={() => setDialog("delete")}>
          Delete
        </MenuItem>
      </AnchoredMenu>
      {dialog === "share" && <ShareDialog target={target} onClose={close} />}
      {dialog === "delete" && (
        <DeleteChatsDialog
          title={`Delete “${title}”?`}
          chats={[{ id: chatId, sessionId }]}
          onClose={close}
          onDeleted={() => isCurrent && router.push("/chat")}
        />
      )}
    </>
  );
}

/** The menu of the whole list. */
export function ListMenu({
  isArchived,
  onSelect,
  onArchived,
  ...state
}: MenuState & {
  readonly isArchived: boolean;
  readonly onSelect: () => void;
  readonly onArchived: (isArchived: boolean) => void;
}) {
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
