"use client";
import { Ellipsis } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useRef, useState } from "react";
import { api } from "@/app/(console)/_api/request.ts";
import { publishChatEvent } from "@/app/(console)/chat/_state/chat-events.ts";
import { cn } from "../../_ui/class-names.ts";
import { toast } from "../../_ui/toast.tsx";
import type { RowTarget } from "./row-target.ts";

const RowMenu = dynamic(() => import("./row-menu.tsx").then((module) => module.RowMenu));

/** A chat, or the heading of a session, with its menu of actions. */
export function Row({
  href,
  isRunning,
  ...target
}: RowTarget & { readonly href: string | null; readonly isRunning: boolean }) {
  const [isRenaming, setRenaming] = useState(false);
  // The code of the menu is loaded on hover or focus.
  const [isNear, setNear] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const openedByKey = useRef(false);
  const { title, isCurrent } = target;
  if (isRenaming) return <RenameForm target={target} onDone={() => setRenaming(false)} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only preloads code
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
              aria-label="(answering)"
              className="size-2 shrink-0 animate-pulse rounded-full bg-accent"
            />
          )}
        </Link>
      )}
      {/* The button stays the same element while the menu loads, because it may have the focus. */}
      <button
        ref={button}
        type="button"
        aria-label={`Actions for ${title}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        data-state={isOpen ? "open" : "closed"}
        onClick={({ detail }) => {
          // `detail` counts pointer clicks; it is 0 for a key.
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

/** Hidden until its row is hovered or focused; always visible on touch screens. */
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
        className="h-8 w-full rounded-md border border-input bg-surface px-2"
      />
    </form>
  );
}
