"use client";
import { cn } from "../../_ui/class-names.ts";
import { Skeleton } from "../../_ui/skeleton.tsx";
import type { ChatList } from "./use-chat-list.ts";

/** What the list says while it loads, and when it has nothing to show. */
export function ListNotes({
  view: { phase, filter, isLoadingMore },
  isEmpty,
}: {
  readonly view: ChatList;
  readonly isEmpty: boolean;
}) {
  if (phase === "loading") return <ListSkeleton />;
  if (isLoadingMore) {
    return <p className="px-2 py-2 text-sm text-muted-foreground">Loading older chats…</p>;
  }
  if (phase === "failed" || !isEmpty) return null;
  return <p className="px-2 py-3 text-sm text-muted-foreground">{emptyText(filter)}</p>;
}

function emptyText({ query, isArchived, artistId }: ChatList["filter"]): string {
  if (query !== "") {
    return `No chat has “${query}” in its title or messages. Try fewer words, or the beginning of one.`;
  }
  if (isArchived) return "Nothing is archived. Archive a chat to put it away without deleting it.";
  if (artistId !== null) return "No chats for this artist yet.";
  return "Your chats will appear here. Ask for a release plan to start one.";
}

function ListSkeleton() {
  return (
    <div aria-busy="true" className="flex flex-col gap-2 px-2 pt-4">
      <p className="sr-only">Loading chats…</p>
      {["w-40", "w-32", "w-44", "w-36", "w-28"].map((width) => (
        <Skeleton key={width} className={cn("h-5", width)} />
      ))}
    </div>
  );
}
