"use client";
import { useEffect, useState } from "react";
import type { z } from "zod";
import type { listAccountChatsContract } from "@/lib/sessions/chats-contract.ts";
import { useArtists, useTemplateChoices } from "../_hooks/shared-reads.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { hasMessages } from "../chat/_list/use-chat-list.ts";

type Chats = z.output<(typeof listAccountChatsContract)["responses"][200]["schema"]>;

/** A pause in typing after which the server is asked. */
const DEBOUNCE_MS = 150;

/** The chats that match the text, or the latest ones; and the newest templates and artists. */
export function usePaletteResults(text: string) {
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const search = query === "" ? "limit=5" : `limit=8&q=${encodeURIComponent(query)}`;
  const chats = useQuery<Chats>(`/api/chats?${search}`);
  const templates = useTemplateChoices();
  const artists = useArtists();
  return {
    chats: chats.data?.chats.filter(hasMessages) ?? [],
    templates: templates.data?.templates ?? [],
    artists,
    isSearching: chats.loading || query !== text.trim(),
  };
}
