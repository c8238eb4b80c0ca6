"use client";
import { Ellipsis } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { markWords } from "@/app/(console)/chat/_list/mark-words.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { cn } from "../../_ui/class-names.ts";
import { keyed } from "../../_ui/keyed.ts";
import { MenuButton } from "./menu-button.tsx";
import { RenameForm } from "./rename-form.tsx";
import type { RowTarget } from "./row-target.ts";

const RowMenu = lazyComponent(() => import("./row-menu.tsx").then((module) => module.RowMenu));

/** A chat with its menu of actions. */
export function Row({
  snippet,
  query,
  isRunning,
  ...target
}: RowTarget & {
  /** The passage that a search has found. */
  readonly snippet: string | null;
  readonly query: string;
  readonly isRunning: boolean;
}) {
  const [isRenaming, setRenaming] = useState(false);
  // The code of the menu is loaded on hover or focus.
  const [isNear, setNear] = useState(false);
  const { title, isCurrent, sessionId, chatId } = target;
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
        href={`/chat/${sessionId}/${chatId}`}
        prefetch={false}
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
        label={`Actions for ${title}`}
        icon={<Ellipsis aria-hidden className="size-4" />}
        className={menuStyle}
        menu={
          isNear
            ? (state) => <RowMenu {...state} target={target} onRename={() => setRenaming(true)} />
            : null
        }
      />
    </div>
  );
}

/** Hidden until its row is hovered or focused; always visible on touch screens. */
const menuStyle =
  "absolute top-0.5 right-0.5 grid size-7 place-items-center rounded-md text-muted-foreground opacity-0 group-hover:opacity-100 group-focus-within:opacity-100 hover:text-foreground data-[state=open]:opacity-100 pointer-coarse:opacity-100";

function Marked({ text, query }: { readonly text: string; readonly query: string }) {
  if (query === "") return text;
  return keyed(markWords(text, query)).map(({ key, item }) =>
    item.isFound ? (
      <mark key={key} className="rounded-xs bg-accent-soft text-accent-text">
        {item.text}
      </mark>
    ) : (
      item.text
    ),
  );
}
