"use client";
import { usePathname } from "next/navigation";
import { memo } from "react";
import { type SessionEntry, titleOfChat } from "@/app/(console)/chat/_list/chat-list.ts";
import { Skeleton } from "../../_ui/skeleton.tsx";
import { Row } from "./row.tsx";

/** A session with one chat is a single row; with several, it is a heading with its chats below. */
export const SessionRow = memo(function SessionRow({ entry }: { readonly entry: SessionEntry }) {
  const { session, chats } = entry;
  const path = usePathname();
  const linkTo = (chatId: string) => `/chat/${session.id}/${chatId}`;
  if (chats === null) {
    return (
      <li className="px-2 py-1.5">
        {session.title === "" ? <Skeleton className="h-5 w-36" /> : session.title}
      </li>
    );
  }
  const only = chats.length === 1 ? chats[0] : undefined;
  if (only) {
    const href = linkTo(only.id);
    return (
      <li>
        <Row
          title={only.title || session.title || titleOfChat(only)}
          href={href}
          isCurrent={path === href}
          isRunning={only.activeStreamId !== null}
          sessionId={session.id}
          chatId={only.id}
          deletes="session"
        />
      </li>
    );
  }
  return (
    <li>
      <Row
        title={session.title || chats.at(-1)?.title || "Session"}
        href={null}
        isCurrent={false}
        isRunning={false}
        sessionId={session.id}
        chatId={null}
        deletes="session"
      />
      <ul className="ml-3 flex flex-col gap-px border-l pl-1.5">
        {chats.map((chat) => (
          <li key={chat.id}>
            <Row
              title={titleOfChat(chat)}
              href={linkTo(chat.id)}
              isCurrent={path === linkTo(chat.id)}
              isRunning={chat.activeStreamId !== null}
              sessionId={session.id}
              chatId={chat.id}
              deletes="chat"
            />
          </li>
        ))}
      </ul>
    </li>
  );
});
