"use client";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ArtistChip } from "../../_session/artist-chip.tsx";
import type { ListFilter } from "./use-chat-list.ts";

const TYPING_PAUSE_MS = 200;

interface ListFiltersProps {
  readonly filter: ListFilter;
  readonly onChange: (change: Partial<ListFilter>) => void;
}

/** What the list is asked for: words, and the artist of the switcher. */
export function ListFilters({ filter, onChange }: ListFiltersProps) {
  const [text, setText] = useState(filter.query);
  useEffect(() => {
    const timer = setTimeout(() => onChange({ query: text.trim().slice(0, 250) }), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  const search = useRef<HTMLInputElement>(null);
  return (
    <>
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
          placeholder={filter.isArchived ? "Search archived chats" : "Search chats"}
          className="h-8 w-full rounded-md border border-transparent bg-muted pr-2 pl-7 text-sm placeholder:text-muted-foreground focus:border-input max-sm:text-[16px]"
        />
      </label>
      <ArtistChip next={search} className="self-start" />
    </>
  );
}
