"use client";
import { MessageSquare } from "lucide-react";
import Link from "next/link";
import type { Artist } from "@/lib/artists/artist.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import { usePages } from "../../_hooks/use-pages.ts";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { EmptyState, PagedList } from "../../_ui/states.tsx";
import { NewChatButton } from "./new-chat-button.tsx";

export function ArtistChats({ artist }: { readonly artist: Artist }) {
  const chats = usePages<Chat>(`/api/chats?artist_id=${artist.account_id}`, "chats");
  return (
    <PagedList
      label="Chats"
      pages={chats}
      keyOf={(chat) => chat.id}
      empty={
        <EmptyState
          icon={MessageSquare}
          title="No chats yet"
          text="A chat about an artist appears here, with the files that its agent makes."
        >
          <NewChatButton artist={artist} />
        </EmptyState>
      }
    >
      {({ id, sessionId, title, lastAssistantMessageAt, createdAt }) => (
        <Link
          href={`/chat/${sessionId}/${id}`}
          prefetch={false}
          className="flex items-center gap-3 px-4 py-3 hover:bg-muted"
        >
          <span className="min-w-0 flex-1 truncate font-medium">{title || "New chat"}</span>
          <RelativeTime
            date={lastAssistantMessageAt ?? createdAt}
            className="shrink-0 text-sm text-muted-foreground"
          />
        </Link>
      )}
    </PagedList>
  );
}
