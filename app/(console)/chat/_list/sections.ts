/** The sections of the chat list: which chats each one has, and how changes of a chat move it. */
import type { FoundChat } from "@/lib/sessions/session.ts";

/** What the list itself is asked for. */
export interface ListFilter {
  readonly query: string;
  /** Shows what was archived in place of what was not. */
  readonly isArchived: boolean;
}

export interface ChatFilter extends ListFilter {
  readonly artistId: string | null;
}

export interface SectionKind {
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  /** The query of `GET /api/chats`. */
  readonly params: Readonly<Record<string, string>>;
}

export interface Section extends SectionKind {
  /** Newest first. */
  readonly chats: readonly FoundChat[];
  /** Of the next page; null when all are loaded. */
  readonly cursor: string | null;
}

/** Returns the sections of a list in their order. A search also finds what was archived. */
export function sectionsFor({ query, isArchived, artistId }: ChatFilter): SectionKind[] {
  const params = {
    ...(query === "" ? {} : { q: query }),
    ...(artistId === null ? {} : { artist_id: artistId }),
  };
  const pinned = { ...params, archived: "false", pinned: "true" };
  const others = { ...params, archived: "false", pinned: "false" };
  const active = [
    { isPinned: true, isArchived: false, params: pinned },
    { isPinned: false, isArchived: false, params: others },
  ];
  const archived = { isPinned: false, isArchived: true, params: { ...params, archived: "true" } };
  if (isArchived) return [archived];
  return query === "" ? active : [...active, archived];
}

/** Keeps the later pages of a section whose first page was loaded again. */
export function afterFirstPage(first: Section, known: Section | undefined): Section {
  const oldest = first.chats.at(-1);
  if (!known || !oldest || first.cursor === null) return first;
  const ids = new Set(first.chats.map(({ id }) => id));
  // A chat that is missing from the first page was deleted or moved elsewhere.
  const later = known.chats.filter((chat) => !ids.has(chat.id) && compare(oldest, chat) < 0);
  if (later.length === 0) return first;
  return { ...first, chats: [...first.chats, ...later], cursor: known.cursor };
}

/** Returns the section with a chat in its place, or without it, after it was pinned or archived. */
export function withChat(
  section: Section,
  chat: FoundChat,
  { pinned, archived }: { readonly pinned: boolean; readonly archived: boolean },
): Section {
  const chats = section.chats.filter(({ id }) => id !== chat.id);
  const isPinned = pinned && !archived;
  if (section.isPinned !== isPinned || section.isArchived !== archived)
    return { ...section, chats };
  const next = chats.findIndex((other) => compare(chat, other) < 0);
  const place = next < 0 ? chats.length : next;
  // Its place is on a page that is not loaded.
  if (next < 0 && section.cursor !== null) return { ...section, chats };
  return { ...section, chats: chats.toSpliced(place, 0, chat) };
}

/** Orders by the newest first, as the server does. */
function compare(one: FoundChat, other: FoundChat): number {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt ? -1 : 1;
  return one.id > other.id ? -1 : 1;
}
