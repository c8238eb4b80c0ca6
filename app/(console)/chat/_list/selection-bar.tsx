import { Archive, ArchiveRestore, Trash2 } from "lucide-react";
import { useState, useTransition } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button } from "../../_ui/button.tsx";
import { changeChat } from "./row-target.ts";

const DeleteChatsDialog = lazyComponent(
  () => import("./delete-chats-dialog.tsx"),
  "DeleteChatsDialog",
);

export function SelectionBar({
  chats,
  isArchived,
  onSelectAll,
  onDone,
  onDeleted,
}: {
  readonly chats: readonly Chat[];
  readonly isArchived: boolean;
  readonly onSelectAll: () => void;
  readonly onDone: () => void;
  readonly onDeleted: (chats: readonly Chat[]) => void;
}) {
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
