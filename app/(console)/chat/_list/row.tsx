"use client";
import { Ellipsis } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useRef, useState } from "react";
import { api } from "@/app/(console)/_hooks/api.ts";
import { tellChats } from "@/app/(console)/chat/_state/channel.ts";
import { cn } from "../../_ui/class-names.ts";
import { toast } from "../../_ui/toast.tsx";

const RowMenu = dynamic(() => import("./row-menu.tsx").then((module) => module.RowMenu));

export interface RowTarget {
  readonly title: string;
  readonly sessionId: string;
  /** Null for a session as a whole. */
  readonly chatId: string | null;
  readonly deletes: "session" | "chat";
  readonly isCurrent: boolean;
}

/** A chat, or the heading of a session, with its menu. */
export function Row({
  href,
  isRunning,
  ...target
}: RowTarget & { readonly href: string | null; readonly isRunning: boolean }) {
  const [isRenaming, setRenaming] = useState(false);
  // The menu's code is loaded when somebody comes near it.
  const [isNear, setNear] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const openedByKey = useRef(false);
  const { title, isCurrent } = target;
  if (isRenaming) return <RenameForm target={target} onDone={() => setRenaming(false)} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only loads code early
    <div
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
      className={cn(
        "group relative flex h-8 items-center rounded-md",
        href === null ? "text-muted-foreground" : "hover:bg-hover",
        isCurrent && "bg-hover font-medium",
      )}
    >
      {href === null ? (
        <span title={title} className="min-w-0 flex-1 truncate px-2 text-sm">
          {title}
        </span>
      ) : (
        <Link
          href={href}
          prefetch={false}
          title={title}
          aria-current={isCurrent ? "page" : undefined}
          className="flex h-full min-w-0 flex-1 items-center gap-2 rounded-md px-2"
        >
          <span className="min-w-0 truncate">{title}</span>
          {isRunning && (
            <span
              role="img"
              aria-label="(an answer is being written)"
              className="size-2 shrink-0 animate-pulse rounded-full bg-accent"
            />
          )}
        </Link>
      )}
      {/* One and the same button before and after the menu's code is there: it may have the focus. */}
      <button
        ref={button}
        type="button"
        aria-label={`Menu of ${title}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        data-state={isOpen ? "open" : "closed"}
        onClick={({ detail }) => {
          // A click of the pointer counts itself, one of a key is 0.
          openedByKey.current = detail === 0;
          setOpen(!isOpen);
        }}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          openedByKey.current = true;
          setOpen(true);
        }}
        className={menuStyle}
      >
        <Ellipsis aria-hidden className="size-4" />
      </button>
      {isNear && (
        <RowMenu
          target={target}
          button={button}
          openedByKey={openedByKey}
          open={isOpen}
          onOpenChange={setOpen}
          onRename={() => setRenaming(true)}
        />
      )}
    </div>
  );
}

/** Out of the way until its row is pointed at or focused; always there where nothing hovers. */
const menuStyle =
  "mr-0.5 grid size-7 shrink-0 place-items-center rounded-md text-muted-foreground opacity-0 group-hover:opacity-100 group-focus-within:opacity-100 hover:text-foreground data-[state=open]:opacity-100 pointer-coarse:opacity-100";

function RenameForm({
  target: { title, sessionId, chatId },
  onDone,
}: {
  readonly target: RowTarget;
  readonly onDone: () => void;
}) {
  const [text, setText] = useState(title);
  const save = async () => {
    onDone();
    const next = text.trim();
    if (next === "" || next === title) return;
    const session = `/api/sessions/${sessionId}`;
    const path = chatId === null ? session : `${session}/chats/${chatId}`;
    const result = await api(path, { method: "PATCH", body: { title: next } });
    if (!result.ok) toast(result.error.message, "danger");
    tellChats({ sessionId, chatId, what: "changed" });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: it stands where the person just asked for it
        autoFocus
        aria-label={`New name of ${title}`}
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
        className="h-8 w-full rounded-md border border-input bg-surface px-2"
      />
    </form>
  );
}
