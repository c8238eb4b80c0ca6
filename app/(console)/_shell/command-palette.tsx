import { Command } from "cmdk";
import { useRouter } from "next/navigation";
import { Dialog } from "radix-ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { listAccountChatsContract } from "@/lib/sessions/chats-contract.ts";
import type { Answer } from "../_api/request.ts";
import { useArtists, useTemplateChoices } from "../_hooks/shared-reads.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { signOut } from "../_session/auth.ts";
import { useFocusReturn } from "../_ui/dialog.tsx";
import {
  type IconComponent,
  Keyboard,
  KeyRound,
  LayoutTemplate,
  LogOut,
  MessageSquare,
  Monitor,
  Moon,
  Plus,
  Sun,
} from "../_ui/icons.tsx";
import { ArtistCover } from "../artists/artist-tag.tsx";
import { hrefOfFound } from "../chat/_list/row-target.ts";
import { hasMessages, titleOfChat } from "../chat/_list/use-chat-list.ts";
import { navItems } from "./nav-items.ts";
import { chooseTheme } from "./theme.ts";

type CommandPaletteProps = Readonly<{ onClose: () => void; onShowShortcuts: () => void }>;

/** Finds pages, actions, chats, templates and artists. Results of the server are added as they arrive. */
export function CommandPalette({ onClose, onShowShortcuts }: CommandPaletteProps) {
  const [text, setText] = useState("");
  const router = useRouter();
  const focus = useFocusReturn();
  const { chats, templates, artists, isSearching } = usePaletteResults(text);
  const list = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState("");
  const firstChatId = chats[0]?.id;
  // Chats arrive above the rows that are there, of which the first was selected.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other chats change the first row
  useEffect(() => {
    const first = list.current?.querySelector("[cmdk-item]");
    setSelected(first?.getAttribute("data-value") ?? "");
  }, [firstChatId]);
  const go = (path: string) => {
    onClose();
    router.push(path);
  };
  const act = (action: () => unknown) => () => {
    onClose();
    action();
  };
  const groups: readonly { name: string; heading?: string; rows: readonly Row[] }[] = [
    {
      name: "Chats",
      heading: text === "" ? "Recent chats" : "Chats",
      rows: chats.map((chat) => ({
        value: `chat ${chat.id}`,
        icon: mark(MessageSquare),
        label: titleOfChat(chat),
        detail: chat.snippet,
        isFound: true,
        run: () => go(hrefOfFound(chat)),
      })),
    },
    {
      name: "Pages",
      rows: navItems.map(({ href, label, icon }) => ({
        ...{ label, icon: mark(icon), run: () => go(href) },
      })),
    },
    {
      name: "Actions",
      rows: [
        { label: "New chat", icon: mark(Plus), run: () => go("/chat") },
        { label: "Create an API key", icon: mark(KeyRound), run: () => go("/keys") },
        { label: "Use light theme", icon: mark(Sun), run: act(() => chooseTheme("light")) },
        { label: "Use dark theme", icon: mark(Moon), run: act(() => chooseTheme("dark")) },
        { label: "Use system theme", icon: mark(Monitor), run: act(() => chooseTheme("system")) },
        { label: "Keyboard shortcuts", icon: mark(Keyboard), run: onShowShortcuts },
        { label: "Sign out", icon: mark(LogOut), run: act(signOut) },
      ],
    },
    {
      name: "Templates",
      rows: templates.map(({ id, title }) => ({
        value: `${title} template ${id}`,
        icon: mark(LayoutTemplate),
        label: title,
        detail: "Start a chat from this template",
        run: () => go(`/chat?template=${id}`),
      })),
    },
    {
      name: "Artists",
      rows: artists.map((artist) => ({
        value: `${artist.name} artist ${artist.account_id}`,
        icon: <ArtistCover artist={artist} className="-ml-0.5 size-5" />,
        label: artist.name,
        run: () => go(`/artists/${artist.account_id}`),
      })),
    },
  ];
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Content
          {...focus}
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border bg-surface shadow-2xl animate-appear max-sm:top-4"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command label="Search and commands" loop value={selected} onValueChange={setSelected}>
            <Command.Input
              value={text}
              onValueChange={setText}
              maxLength={250}
              placeholder="Search chats, pages, templates and artists"
              className="h-12 w-full border-b bg-transparent px-4 text-lg outline-none"
            />
            <Command.List
              ref={list}
              aria-label="Results"
              className="max-h-[min(26rem,60vh)] overflow-y-auto overscroll-contain p-2"
            >
              {chats.length === 0 && (
                <Command.Empty className="px-3 py-8 text-center text-muted-foreground">
                  {isSearching ? "Searching…" : "Nothing found. Try a word from the chat."}
                </Command.Empty>
              )}
              {groups
                .filter(({ rows }) => rows.length > 0)
                .map(({ name, heading = name, rows }) => (
                  <Command.Group
                    key={name}
                    heading={heading}
                    forceMount={name === "Chats"}
                    className="pb-1 [&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted-foreground"
                  >
                    {rows.map((row) => (
                      <Item key={row.value ?? row.label} {...row} />
                    ))}
                  </Command.Group>
                ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface Row {
  /** The text that a search is matched against. Default: the label. */
  readonly value?: string;
  readonly icon: ReactNode;
  readonly label: string;
  readonly detail?: string | undefined;
  /** True for results of the server, which are shown without matching. */
  readonly isFound?: boolean;
  readonly run: () => void;
}

const Item = ({ label, value = label, icon, detail, isFound = false, run }: Row) => (
  <Command.Item
    value={value}
    forceMount={isFound}
    onSelect={run}
    className="flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-3 py-1.5 aria-selected:bg-hover"
  >
    {icon}
    <span className="min-w-0 flex-1">
      <span className="block truncate">{label}</span>
      {detail !== undefined && (
        <span className="block truncate text-sm text-muted-foreground">{detail}</span>
      )}
    </span>
  </Command.Item>
);

const mark = (Icon: IconComponent) => (
  <Icon aria-hidden className="size-4 shrink-0 text-muted-foreground" />
);

type Chats = Answer<typeof listAccountChatsContract>;

const DEBOUNCE_MS = 150;

/** The chats that match the text, or the latest ones; and the newest templates and artists once there is a text. */
function usePaletteResults(text: string) {
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const search = query === "" ? "limit=5" : `limit=8&q=${encodeURIComponent(query)}`;
  const chats = useQuery<Chats>(`/api/chats?${search}`);
  const templates = useTemplateChoices().data?.templates ?? [];
  const artists = useArtists();
  return {
    chats: chats.data?.chats.filter(hasMessages) ?? [],
    templates: text === "" ? [] : templates,
    artists: text === "" ? [] : artists,
    isSearching: chats.loading || query !== text.trim(),
  };
}
