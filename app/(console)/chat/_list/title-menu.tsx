"use client";
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { MenuButton } from "../../_ui/menu-button.tsx";
import { RenameForm } from "./row.tsx";
import { titleOfChat } from "./use-chat-list.ts";

const RowMenu = lazyComponent(() => import("./row-menu.tsx"), "RowMenu");

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
