import { usePathname, useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { ArtistChip } from "../../_session/artist-chip.tsx";
import { useScope } from "../../_session/scope.ts";
import { Button, buttonStyle } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { Ellipsis, MessageSquarePlus, Search } from "../../_ui/icons.tsx";
import { Link } from "../../_ui/link.tsx";
import { MenuButton } from "../../_ui/menu-button.tsx";
import { ErrorState, Loading, Skeletons } from "../../_ui/states.tsx";
import { Row } from "./row.tsx";
import { hrefOf } from "./row-target.ts";
import {
  type ChatList,
  heightOf,
  type ListFilter,
  type ListRow,
  rowsOf,
  titleOfChat,
  useChatList,
} from "./use-chat-list.ts";
import { VirtualList } from "./virtual-list.tsx";

const ListMenu = lazyComponent(() => import("./chat-actions.tsx"), "ListMenu");
const SelectionBar = lazyComponent(() => import("./chat-actions.tsx"), "SelectionBar");

/** The list of chats, beside every page. It shows six of them however low the window is. */
export function ChatSidebar() {
  const artistId = useScope().artist?.id ?? null;
  const [filter, setFilter] = useState<ListFilter>({ query: "", isArchived: false });
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const path = usePathname();
  const router = useRouter();
  const view = useChatList({ ...filter, artistId }, addressIn(path));
  const rows = rowsOf(view, new Date());
  const chats = rows.flatMap((row) => ("chat" in row ? [row.chat] : []));
  const leaveDeleted = (deleted: readonly Chat[]) => {
    if (deleted.some((chat) => path === hrefOf(chat))) router.push("/chat");
    setSelected(null);
  };
  const render = (row: ListRow) => {
    if ("heading" in row) {
      return (
        <h2 className="truncate px-2 pt-3 pb-1 text-xs font-medium text-muted-foreground">
          {row.heading}
        </h2>
      );
    }
    const { chat, snippet } = row;
    if (!selected) return <Row {...{ chat, snippet }} isCurrent={path === hrefOf(chat)} />;
    return (
      <SelectableRow
        title={titleOfChat(chat)}
        isSelected={selected.has(chat.id)}
        onToggle={() => setSelected((now) => toggled(now, chat.id))}
      />
    );
  };
  return (
    <div className="flex min-h-80 flex-1 flex-col">
      <ListHeader
        filter={filter}
        onFilter={setFilter}
        onSelect={() => setSelected(selected ?? new Set())}
      />
      <VirtualList
        label="Chats"
        {...{ rows, heightOf, render }}
        onNearEnd={view.error === null ? view.loadMore : null}
      >
        <ListNotes view={view} isEmpty={rows.length === 0} />
        {view.error && (
          <div className="mt-2">
            <ErrorState error={view.error} onRetry={() => view.loadMore?.()} />
          </div>
        )}
      </VirtualList>
      {selected && (
        <SelectionBar
          chats={chats.filter(({ id }) => selected.has(id))}
          isArchived={filter.isArchived}
          onSelectAll={() => setSelected(new Set(chats.map(({ id }) => id)))}
          onDone={() => setSelected(null)}
          onDeleted={leaveDeleted}
        />
      )}
    </div>
  );
}

const TYPING_PAUSE_MS = 200;

interface ListHeaderProps {
  readonly filter: ListFilter;
  readonly onFilter: (change: (now: ListFilter) => ListFilter) => void;
  readonly onSelect: () => void;
}

/** Starts a chat, and filters the list: search results, archived chats, or an artist's chats. */
function ListHeader({ filter: { query, isArchived }, onFilter, onSelect }: ListHeaderProps) {
  const [isNear, setNear] = useState(false);
  const [text, setText] = useState(query);
  const showArchived = (isShown: boolean) => onFilter((now) => ({ ...now, isArchived: isShown }));
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const next = text.trim().slice(0, 250);
    const timer = setTimeout(() => onFilter((now) => ({ ...now, query: next })), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onFilter]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only preloads code
    <div
      className="flex shrink-0 flex-col gap-2 border-t px-3 pt-3 pb-2"
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
    >
      <div className="relative flex gap-1">
        <Link
          href="/chat"
          className={cn(
            buttonStyle({ variant: "outline", size: "sm" }),
            "h-8 min-w-0 flex-1 justify-start",
          )}
        >
          <MessageSquarePlus aria-hidden />
          New chat
        </Link>
        <MenuButton
          aria-label="Chat list"
          className="grid size-8 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-hover hover:text-foreground"
          menu={(state) =>
            isNear && (
              <ListMenu {...state} {...{ isArchived, onSelect }} onArchived={showArchived} />
            )
          }
        >
          <Ellipsis aria-hidden className="size-4" />
        </MenuButton>
      </div>
      <label className="relative block">
        <span className="sr-only">Search chats</span>
        <Search
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2 size-3.5 -translate-y-1/2 text-muted-foreground"
        />
        <input
          ref={search}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={isArchived ? "Search archived chats" : "Search chats"}
          className="h-8 w-full rounded-md border border-transparent bg-muted pr-2 pl-7 text-sm placeholder:text-muted-foreground focus:border-input max-sm:text-[16px]"
        />
      </label>
      <ArtistChip next={search} className="self-start" />
      {isArchived && (
        <div className="flex items-center justify-between gap-2 text-sm font-medium">
          Archived chats
          <Button variant="ghost" size="sm" onClick={() => showArchived(false)}>
            Show all
          </Button>
        </div>
      )}
    </div>
  );
}

function addressIn(path: string) {
  const [, sessionId, chatId] = /^\/chat\/([\w-]{36})\/([\w-]{36})$/.exec(path) ?? [];
  return sessionId && chatId ? { sessionId, chatId } : null;
}

function toggled(ids: ReadonlySet<string> | null, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

function ListNotes({ view, isEmpty }: { readonly view: ChatList; readonly isEmpty: boolean }) {
  const { isLoading, filter, isLoadingMore, error } = view;
  if (isLoading) {
    return (
      <Loading label="Loading chats…" className="flex flex-col gap-2 px-2 pt-4">
        <Skeletons count={5} className="h-5 w-36" />
      </Loading>
    );
  }
  if (isLoadingMore) {
    return <p className="px-2 py-2 text-sm text-muted-foreground">Loading older chats…</p>;
  }
  if (error || !isEmpty) return null;
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

type SelectableRowProps = Readonly<{ title: string; isSelected: boolean; onToggle: () => void }>;

const SelectableRow = ({ title, isSelected, onToggle }: SelectableRowProps) => (
  <label
    title={title}
    className={cn(
      "flex h-8 cursor-pointer items-center gap-2.5 rounded-md px-2 hover:bg-hover",
      isSelected && "bg-accent-soft",
    )}
  >
    <input
      type="checkbox"
      checked={isSelected}
      onChange={onToggle}
      className="size-4 shrink-0 accent-accent"
    />
    <span className="min-w-0 truncate">{title}</span>
  </label>
);
