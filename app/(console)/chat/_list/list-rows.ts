/** The rows of the chat list: headings and chats, each with its height, so that only visible ones are rendered. */
import type { FoundChat } from "@/lib/sessions/session.ts";
import { lazily } from "../../_ui/format.ts";
import type { ChatList } from "./use-chat-list.ts";

export type ListRow =
  | { readonly key: string; readonly heading: string }
  | {
      readonly key: string;
      readonly chat: FoundChat;
      readonly isPinned: boolean;
      readonly isArchived: boolean;
      /** The passage that was found; null when it was the title. */
      readonly snippet: string | null;
    };

const HEADING_HEIGHT = 34;
const CHAT_HEIGHT = 34;
const SNIPPET_HEIGHT = 70;

export function heightOf(row: ListRow): number {
  if ("heading" in row) return HEADING_HEIGHT;
  return row.snippet === null ? CHAT_HEIGHT : SNIPPET_HEIGHT;
}

export function rowsOf({ sections, current, filter }: ChatList, now: Date): ListRow[] {
  const rows: ListRow[] = [];
  if (current) {
    rows.push(
      { key: "current", heading: "Open chat" },
      { key: current.id, chat: current, isPinned: false, isArchived: false, snippet: null },
    );
  }
  const labelOf = dateLabels(now);
  for (const { chats, isPinned, isArchived } of sections) {
    const fixed = isPinned ? "Pinned" : filter.query === "" ? null : "Chats";
    let last: string | null = null;
    for (const chat of chats) {
      const label = isArchived && filter.query !== "" ? "Archived" : (fixed ?? labelOf(chat));
      if (label !== last) rows.push({ key: `${isPinned}-${label}`, heading: label });
      last = label;
      const { snippet, title } = chat;
      const isTitle = snippet === undefined || snippet === title;
      rows.push({ key: chat.id, chat, isPinned, isArchived, snippet: isTitle ? null : snippet });
    }
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
