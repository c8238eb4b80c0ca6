"use client";
import { MessageSquare } from "lucide-react";
import Link from "next/link";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { ArtistList, lineStyle } from "./artist-list.tsx";
import { NewChatButton } from "./new-chat-button.tsx";

const idOf = (chat: Chat): string => chat.id;

export function ArtistChats({ artist }: { readonly artist: Artist }) {
  const chats = usePages<Chat>(`/api/chats?artist_id=${artist.account_id}`, "chats");
  return (
    <ArtistList
      label="Chats"
      pages={chats}
      idOf={idOf}
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
        <Link href={`/chat/${sessionId}/${id}`} prefetch={false} className={lineStyle}>
          <span className="min-w-0 flex-1 truncate font-medium">{title || "New chat"}</span>
          <RelativeTime
            date={lastAssistantMessageAt ?? createdAt}
            className="shrink-0 text-sm text-muted-foreground"
          />
        </Link>
      )}
    </ArtistList>
  );
}
