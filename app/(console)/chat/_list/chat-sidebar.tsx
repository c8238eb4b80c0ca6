"use client";
import { MessageSquarePlus, Search } from "lucide-react";
import Link from "next/link";
import { useEffect, useState, useSyncExternalStore } from "react";
import {
  ChatList,
  type SessionEntry,
  searchEntries,
} from "@/app/(console)/chat/_list/chat-list.ts";
import { SidebarContent } from "../../_shell/sidebar-slot.tsx";
import { Button, buttonStyle } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { ErrorState } from "../../_ui/error-state.tsx";
import { Skeleton } from "../../_ui/skeleton.tsx";
import { SessionRow } from "./session-row.tsx";

/** The sidebar's list of sessions and their chats. */
export function ChatSidebar() {
  const [list] = useState(() => new ChatList());
  const view = useSyncExternalStore(list.subscribe, list.getView, list.getView);
  const [query, setQuery] = useState("");
  useEffect(() => list.start(), [list]);
  const found = searchEntries(view.entries, query);
  return (
    <SidebarContent>
      <div className="flex shrink-0 flex-col gap-2 border-t px-3 pt-3 pb-2">
        <Link
          href="/chat"
          prefetch={false}
          className={cn(buttonStyle({ variant: "outline", size: "sm" }), "h-8 justify-start")}
        >
          <MessageSquarePlus aria-hidden />
          New chat
        </Link>
        <label className="relative block">
          <span className="sr-only">Search chats by title</span>
          <Search
            aria-hidden
            className="pointer-events-none absolute top-1/2 left-2 size-3.5 -translate-y-1/2 text-muted-foreground"
          />
          <input
            type="search"
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            placeholder="Search chats"
            className="h-8 w-full rounded-md border border-transparent bg-muted pr-2 pl-7 text-sm placeholder:text-muted-foreground focus:border-input max-sm:text-[16px]"
          />
        </label>
      </div>
      <nav aria-label="Chats" className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {view.phase === "loading" && <ListSkeleton />}
        {view.phase === "failed" && view.error && (
          <ErrorState error={view.error} onRetry={() => void list.load()} />
        )}
        {view.phase === "ready" && found.length === 0 && (
          <p className="px-2 py-3 text-sm text-muted-foreground">
            {query.trim() === ""
              ? "Your chats will appear here."
              : "No matching chats among those loaded."}
          </p>
        )}
        {groupByDay(found).map(({ label, entries }) => (
          <section key={label} aria-label={label}>
            <h2 className="px-2 pt-3 pb-1 text-xs font-medium text-muted-foreground">{label}</h2>
            <ul className="flex flex-col gap-px">
              {entries.map((entry) => (
                <SessionRow key={entry.session.id} entry={entry} />
              ))}
            </ul>
          </section>
        ))}
        {view.hasMore && (
          <Button
            variant="ghost"
            size="sm"
            busy={view.isLoadingMore}
            className="mt-2 w-full text-muted-foreground"
            onClick={() => void list.loadMore()}
          >
            Load older chats
          </Button>
        )}
      </nav>
    </SidebarContent>
  );
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

const DAY_MS = 24 * 60 * 60 * 1000;

/** Groups entries under headings such as "Today"; newest first. */
function groupByDay(
  entries: readonly SessionEntry[],
): { label: string; entries: SessionEntry[] }[] {
  const today = new Date().setHours(0, 0, 0, 0);
  const labelOf = ({ session }: SessionEntry): string => {
    const at = Date.parse(session.createdAt);
    if (at >= today) return "Today";
    if (at >= today - DAY_MS) return "Yesterday";
    return at >= today - 7 * DAY_MS ? "Last 7 days" : "Older";
  };
  return [...Map.groupBy(entries, labelOf)].map(([label, members]) => ({
    label,
    entries: members,
  }));
}
