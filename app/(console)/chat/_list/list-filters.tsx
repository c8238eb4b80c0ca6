"use client";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { useArtists } from "@/app/(console)/_hooks/use-artists.ts";
import { Select } from "../../_ui/select.tsx";
import type { ChatFilter } from "./sections.ts";

/** The time without a key after which what was typed is searched for. */
const TYPING_PAUSE_MS = 200;

/** What the list is asked for: words, and an artist where the account has any. */
export function ListFilters({
  filter,
  onChange,
}: {
  readonly filter: ChatFilter;
  readonly onChange: (change: Partial<ChatFilter>) => void;
}) {
  const [text, setText] = useState(filter.query);
  useEffect(() => {
    const timer = setTimeout(() => onChange({ query: text.trim().slice(0, 250) }), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  const artists = useArtists();
  return (
    <>
      <label className="relative block">
        <span className="sr-only">Search chats</span>
        <Search
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2 size-3.5 -translate-y-1/2 text-muted-foreground"
        />
        <input
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={filter.isArchived ? "Search archived chats" : "Search chats"}
          className="h-8 w-full rounded-md border border-transparent bg-muted pr-2 pl-7 text-sm placeholder:text-muted-foreground focus:border-input max-sm:text-[16px]"
        />
      </label>
      {artists.length > 0 && (
        <Select
          aria-label="Artist"
          value={filter.artistId ?? ""}
          onChange={({ target }) => onChange({ artistId: target.value || null })}
        >
          <option value="">All artists</option>
          {artists.map(({ account_id: id, name }) => (
            <option key={id} value={id}>
              {name ?? "Unnamed artist"}
            </option>
          ))}
        </Select>
      )}
    </>
  );
}
