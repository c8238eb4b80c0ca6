import { Command } from "cmdk";
import {
  Keyboard,
  KeyRound,
  LayoutTemplate,
  LogOut,
  type LucideIcon,
  MessageSquare,
  Monitor,
  Moon,
  Plus,
  Sun,
} from "lucide-react";
import { useRouter } from "next/navigation";
import { Dialog } from "radix-ui";
import {
  type ComponentProps,
  isValidElement,
  type ReactElement,
  useEffect,
  useRef,
  useState,
} from "react";
import type { listAccountChatsContract } from "@/lib/sessions/chats-contract.ts";
import type { Answer } from "../_api/request.ts";
import { useArtists, useTemplateChoices } from "../_hooks/shared-reads.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { signOut } from "../_session/auth.ts";
import { useFocusReturn } from "../_ui/dialog.tsx";
import { ArtistCover } from "../artists/artist-tag.tsx";
import { hrefOfFound } from "../chat/_list/row-target.ts";
import { hasMessages, titleOfChat } from "../chat/_list/use-chat-list.ts";
import { navGroups, settingsItem } from "./nav-items.ts";
import { chooseTheme } from "./theme.ts";

const pages = [...navGroups.flatMap(({ items }) => items), settingsItem];

type CommandPaletteProps = Readonly<{ onClose: () => void; onShowShortcuts: () => void }>;

/** Finds pages, actions, chats, templates and artists. What the server finds is listed as it comes. */
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
  const actions = [
    { label: "New chat", icon: Plus, run: () => go("/chat") },
    { label: "Create an API key", icon: KeyRound, run: () => go("/keys") },
    { label: "Use light theme", icon: Sun, run: act(() => chooseTheme("light")) },
    { label: "Use dark theme", icon: Moon, run: act(() => chooseTheme("dark")) },
    { label: "Use system theme", icon: Monitor, run: act(() => chooseTheme("system")) },
    { label: "Keyboard shortcuts", icon: Keyboard, run: onShowShortcuts },
    { label: "Sign out", icon: LogOut, run: act(signOut) },
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
              {chats.length > 0 && (
                <Group heading={text === "" ? "Recent chats" : "Chats"} forceMount>
                  {chats.map((chat) => (
                    <Item
                      key={chat.id}
                      value={`chat ${chat.id}`}
                      icon={MessageSquare}
                      label={titleOfChat(chat)}
                      {...(chat.snippet === undefined ? {} : { detail: chat.snippet })}
                      isFound
                      onSelect={() => go(hrefOfFound(chat))}
                    />
                  ))}
                </Group>
              )}
              <Group heading="Pages">
                {pages.map(({ href, label, icon }) => (
                  <Item
                    key={href}
                    value={label}
                    icon={icon}
                    label={label}
                    onSelect={() => go(href)}
                  />
                ))}
              </Group>
              <Group heading="Actions">
                {actions.map(({ label, icon, run }) => (
                  <Item key={label} value={label} icon={icon} label={label} onSelect={run} />
                ))}
              </Group>
              {text !== "" && templates.length > 0 && (
                <Group heading="Templates">
                  {templates.map((template) => (
                    <Item
                      key={template.id}
                      value={`${template.title} template ${template.id}`}
                      icon={LayoutTemplate}
                      label={template.title}
                      detail="Start a chat from this template"
                      onSelect={() => go(`/chat?template=${template.id}`)}
                    />
                  ))}
                </Group>
              )}
              {text !== "" && artists.length > 0 && (
                <Group heading="Artists">
                  {artists.map((artist) => (
                    <Item
                      key={artist.account_id}
                      value={`${artist.name} artist ${artist.account_id}`}
                      icon={<ArtistCover artist={artist} className="-ml-0.5 size-5" />}
                      label={artist.name ?? "Unnamed artist"}
                      onSelect={() => go(`/artists/${artist.account_id}`)}
                    />
                  ))}
                </Group>
              )}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Group(props: ComponentProps<typeof Command.Group>) {
  return (
    <Command.Group
      {...props}
      className="pb-1 [&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted-foreground"
    />
  );
}

interface ItemProps {
  readonly value: string;
  readonly icon: LucideIcon | ReactElement;
  readonly label: string;
  readonly detail?: string;
  /** True for what the server found, which is shown in any case. */
  readonly isFound?: boolean;
  readonly onSelect: () => void;
}

function Item({ value, icon, label, detail, isFound = false, onSelect }: ItemProps) {
  return (
    <Command.Item
      value={value}
      forceMount={isFound}
      onSelect={onSelect}
      className="flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-3 py-1.5 aria-selected:bg-hover"
    >
      {isValidElement(icon) ? icon : <Mark icon={icon} />}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{label}</span>
        {detail !== undefined && (
          <span className="block truncate text-sm text-muted-foreground">{detail}</span>
        )}
      </span>
    </Command.Item>
  );
}

function Mark({ icon: Icon }: { readonly icon: LucideIcon }) {
  return <Icon aria-hidden className="size-4 shrink-0 text-muted-foreground" />;
}

type Chats = Answer<typeof listAccountChatsContract>;

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
