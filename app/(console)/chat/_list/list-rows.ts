/** The rows of the chat list: headings and chats, each with its height, so that only visible ones are rendered. */
import type { FoundChat } from "@/lib/sessions/session.ts";
import { lazily } from "../../_ui/format.ts";
import type { ChatList } from "./use-chat-list.ts";

export type ListRow =
  | { readonly key: string; readonly heading: string }
  | {
      readonly key: string;
      readonly chat: FoundChat;
      /** The passage that was found; null when it was the title. */
      readonly snippet: string | null;
    };

const HEADING_HEIGHT = 30;
const CHAT_HEIGHT = 32;
const SNIPPET_HEIGHT = 68;

export function heightOf(row: ListRow): number {
  if ("heading" in row) return HEADING_HEIGHT;
  return row.snippet === null ? CHAT_HEIGHT : SNIPPET_HEIGHT;
}

export function rowsOf({ chats, current, filter }: ChatList, now: Date): ListRow[] {
  const rows: ListRow[] = [];
  const add = (heading: string, chat: FoundChat) => {
    const { id, snippet, title } = chat;
    if (heading !== last) rows.push({ key: `${heading} ${chat.pinned}`, heading });
    last = heading;
    rows.push({ key: id, chat, snippet: snippet === title ? null : (snippet ?? null) });
  };
  let last: string | null = null;
  if (current) add("Open chat", { ...current, pinned: false, archived: false });
  const dateOf = dateLabels(now);
  for (const chat of chats) {
    if (filter.query === "") add(chat.pinned && !chat.archived ? "Pinned" : dateOf(chat), chat);
    else add(chat.archived ? "Archived" : chat.pinned ? "Pinned" : "Chats", chat);
  }
  return rows;
}

const thisYear = lazily(() => new Intl.DateTimeFormat("en", { month: "long" }));
const anyYear = lazily(() => new Intl.DateTimeFormat("en", { month: "long", year: "numeric" }));

/** Returns what tells the heading of a chat: `Today`, `Previous 7 days`, `October`, `October 2025`. */
function dateLabels(now: Date): (chat: FoundChat) => string {
  const daysAgo = (days: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();
  const [today, yesterday, week, month] = [daysAgo(0), daysAgo(1), daysAgo(7), daysAgo(30)];
  return ({ createdAt }) => {
    const at = new Date(createdAt);
    const time = at.getTime();
    if (time >= today) return "Today";
    if (time >= yesterday) return "Yesterday";
    if (time >= week) return "Previous 7 days";
    if (time >= month) return "Previous 30 days";
    return (at.getFullYear() === now.getFullYear() ? thisYear() : anyYear()).format(at);
  };
}
