import { type ReactNode, useState } from "react";
import type { Chat, FoundChat } from "@/lib/sessions/session.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { cn } from "../../_ui/class-names.ts";
import { ChevronDown, Ellipsis, type IconComponent } from "../../_ui/icons.tsx";
import { keyed } from "../../_ui/keyed.ts";
import { Link } from "../../_ui/link.tsx";
import { MenuButton } from "../../_ui/menu-button.tsx";
import { foundWords } from "./found-words.ts";
import { type ActionTarget, changeChat, hrefOfFound } from "./row-target.ts";
import { titleOfChat } from "./use-chat-list.ts";

const RowMenu = lazyComponent(() => import("./chat-actions.tsx"), "RowMenu");

type RowProps = Readonly<{ chat: FoundChat; snippet: string | null; isCurrent: boolean }>;

export function Row({ chat, snippet, isCurrent }: RowProps) {
  const title = titleOfChat(chat);
  const { matched: query = "" } = chat;
  return (
    <WithMenu
      {...{ chat, isCurrent }}
      icon={Ellipsis}
      label={`Actions for ${title}`}
      buttonStyle={rowButtonStyle}
      className={cn(
        "group relative flex items-start rounded-md hover:bg-hover",
        isCurrent && "bg-hover font-medium",
      )}
    >
      <Link
        href={hrefOfFound(chat)}
        title={title}
        aria-current={isCurrent ? "page" : undefined}
        className="flex min-w-0 flex-1 flex-col rounded-md px-2 py-1.5 group-focus-within:pr-9 group-hover:pr-9 focus-visible:-outline-offset-2 pointer-coarse:pr-9"
      >
        <span className="flex items-center gap-2">
          <span className="min-w-0 truncate">
            <Marked text={title} query={query} />
          </span>
          {chat.activeStreamId !== null && (
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
    </WithMenu>
  );
}

/** Hidden until its row is hovered or focused; always visible on touch screens. */
const rowButtonStyle =
  "absolute top-0.5 right-0.5 grid size-7 place-items-center rounded-md text-muted-foreground opacity-0 group-hover:opacity-100 group-focus-within:opacity-100 hover:text-foreground data-[state=open]:opacity-100 pointer-coarse:opacity-100";

/** The title of the open chat, with the menu that its row has. */
export const TitleMenu = ({ chat, onCode }: Readonly<{ chat: Chat; onCode: () => void }>) => (
  <WithMenu
    {...{ chat, onCode }}
    isCurrent
    icon={ChevronDown}
    label="Chat menu"
    buttonStyle="grid size-8 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-hover hover:text-foreground"
    className="relative flex min-w-0 items-center gap-1"
  >
    <h1 className="min-w-0 truncate font-semibold">{titleOfChat(chat)}</h1>
  </WithMenu>
);

interface WithMenuProps {
  readonly chat: ActionTarget;
  readonly isCurrent: boolean;
  readonly onCode?: () => void;
  readonly icon: IconComponent;
  readonly label: string;
  readonly buttonStyle: string;
  readonly className: string;
  readonly children: ReactNode;
}

/** The name of a chat beside the menu of its actions. It becomes a form while the chat is renamed. */
function WithMenu(props: WithMenuProps) {
  const { icon: Icon, label, buttonStyle, className, children, ...menu } = props;
  const [isRenaming, setRenaming] = useState(false);
  // The code of the menu is loaded on hover or focus.
  const [isNear, setNear] = useState(false);
  if (isRenaming) return <RenameForm chat={menu.chat} onDone={() => setRenaming(false)} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only preloads code
    <div onPointerEnter={() => setNear(true)} onFocus={() => setNear(true)} className={className}>
      {children}
      <MenuButton
        aria-label={label}
        className={buttonStyle}
        menu={(state) =>
          isNear && <RowMenu {...state} {...menu} onRename={() => setRenaming(true)} />
        }
      >
        <Icon aria-hidden className="size-4" />
      </MenuButton>
    </div>
  );
}

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

function RenameForm({ chat, onDone }: Readonly<{ chat: Chat; onDone: () => void }>) {
  const title = titleOfChat(chat);
  const [text, setText] = useState(title);
  const save = () => {
    onDone();
    const next = text.trim();
    if (next !== "" && next !== title) void changeChat(chat, { title: next });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
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
        onBlur={save}
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
