import { ChevronDown, Ellipsis } from "lucide-react";
import { useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import { api } from "../../_api/request.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { cn } from "../../_ui/class-names.ts";
import { keyed } from "../../_ui/keyed.ts";
import { Link } from "../../_ui/link.tsx";
import { MenuButton } from "../../_ui/menu-button.tsx";
import { toast } from "../../_ui/toast.tsx";
import { publishChatEvent } from "../_state/chat-events.ts";
import { foundWords } from "./found-words.ts";
import { pathOf, type RowTarget } from "./row-target.ts";
import { titleOfChat } from "./use-chat-list.ts";

const RowMenu = lazyComponent(() => import("./row-menu.tsx"), "RowMenu");

type RowProps = RowTarget & {
  readonly href: string;
  readonly snippet: string | null;
  readonly query: string;
  readonly isRunning: boolean;
};

export function Row({ href, snippet, query, isRunning, ...target }: RowProps) {
  const [isRenaming, setRenaming] = useState(false);
  // The code of the menu is loaded on hover or focus.
  const [isNear, setNear] = useState(false);
  const { title, isCurrent } = target;
  if (isRenaming) return <RenameForm target={target} onDone={() => setRenaming(false)} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only preloads code
    <div
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
      className={cn(
        "group relative flex items-start rounded-md hover:bg-hover",
        isCurrent && "bg-hover font-medium",
      )}
    >
      <Link
        href={href}
        title={title}
        aria-current={isCurrent ? "page" : undefined}
        className="flex min-w-0 flex-1 flex-col rounded-md px-2 py-1.5 group-focus-within:pr-9 group-hover:pr-9 focus-visible:-outline-offset-2 pointer-coarse:pr-9"
      >
        <span className="flex items-center gap-2">
          <span className="min-w-0 truncate">
            <Marked text={title} query={query} />
          </span>
          {isRunning && (
            <span
              role="img"
              aria-label="(answering)"
              className="size-2 shrink-0 animate-pulse rounded-full bg-accent"
            />
          )}
        </span>
        {snippet !== null && (
          <span className="line-clamp-2 h-9 text-xs leading-4.5 font-normal text-muted-foreground [overflow-wrap:anywhere]">
            <Marked text={snippet} query={query} />
          </span>
        )}
      </Link>
      <MenuButton
        aria-label={`Actions for ${title}`}
        className={menuStyle}
        menu={(state) =>
          isNear && <RowMenu {...state} target={target} onRename={() => setRenaming(true)} />
        }
      >
        <Ellipsis aria-hidden className="size-4" />
      </MenuButton>
    </div>
  );
}

/** Hidden until its row is hovered or focused; always visible on touch screens. */
const menuStyle =
  "absolute top-0.5 right-0.5 grid size-7 place-items-center rounded-md text-muted-foreground opacity-0 group-hover:opacity-100 group-focus-within:opacity-100 hover:text-foreground data-[state=open]:opacity-100 pointer-coarse:opacity-100";

function Marked({ text, query }: { readonly text: string; readonly query: string }) {
  const pattern = foundWords(query);
  if (pattern === null) return text;
  // Every second piece is a match, because the pattern is a group.
  return keyed(text.split(pattern)).map(({ key, item }, index) =>
    index % 2 === 1 ? (
      <mark key={key} className="rounded-xs bg-accent-soft text-accent-text">
        {item}
      </mark>
    ) : (
      item
    ),
  );
}

function RenameForm(props: { readonly target: RowTarget; readonly onDone: () => void }) {
  const { target, onDone } = props;
  const { title, sessionId, chatId } = target;
  const [text, setText] = useState(title);
  const save = async () => {
    onDone();
    const next = text.trim();
    if (next === "" || next === title) return;
    const result = await api(pathOf(target), { method: "PATCH", body: { title: next } });
    if (!result.ok) toast(result.error.message, "danger");
    publishChatEvent({ sessionId, chatId, type: "changed" });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the user just chose "Rename"
        autoFocus
        aria-label={`New name for ${title}`}
        value={text}
        maxLength={200}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          onDone();
        }}
        className="h-8 w-full rounded-md border border-input bg-surface px-2 max-sm:text-[16px]"
      />
    </form>
  );
}

/** The title of the open chat, with the menu that its row has. */
export function TitleMenu(props: { readonly chat: Chat; readonly onCode: () => void }) {
  const { chat, onCode } = props;
  const [isRenaming, setRenaming] = useState(false);
  const [isNear, setNear] = useState(false);
  const { id: chatId, sessionId } = chat;
  const target = { title: titleOfChat(chat), sessionId, chatId, isCurrent: true };
  if (isRenaming) return <RenameForm target={target} onDone={() => setRenaming(false)} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only preloads code
    <div
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
      className="relative flex min-w-0 items-center gap-1"
    >
      <h1 className="min-w-0 truncate font-semibold">{target.title}</h1>
      <MenuButton
        aria-label="Chat menu"
        className="grid size-8 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-hover hover:text-foreground"
        menu={(state) =>
          isNear && (
            <RowMenu
              {...state}
              target={target}
              onRename={() => setRenaming(true)}
              onCode={onCode}
            />
          )
        }
      >
        <ChevronDown aria-hidden className="size-4" />
      </MenuButton>
    </div>
  );
}
