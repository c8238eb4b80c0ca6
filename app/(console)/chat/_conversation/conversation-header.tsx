"use client";
import { Code2, FolderTree } from "lucide-react";
import { titleOfChat } from "@/app/(console)/chat/_list/use-chat-list.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import { Button } from "../../_ui/button.tsx";
import { Skeleton } from "../../_ui/skeleton.tsx";

export function ConversationHeader({
  chat,
  isFilesOpen,
  onToggleFiles,
  onViewCode,
}: {
  readonly chat: Chat | null;
  readonly isFilesOpen: boolean;
  readonly onToggleFiles: () => void;
  readonly onViewCode: () => void;
}) {
  return (
    <header className="flex h-13 shrink-0 items-center gap-3 border-b px-4">
      <h1 className="min-w-0 flex-1 truncate font-semibold">
        {chat ? titleOfChat(chat) : <Skeleton className="h-5 w-48 max-w-full" />}
      </h1>
      <Button variant="ghost" size="sm" className="h-8" onClick={onViewCode}>
        <Code2 aria-hidden />
        <span className="max-sm:sr-only">View as code</span>
      </Button>
      <Button
        variant="ghost"
        size="sm"
        className="h-8"
        aria-pressed={isFilesOpen}
        onClick={onToggleFiles}
      >
        <FolderTree aria-hidden />
        Files
      </Button>
    </header>
  );
}
