"use client";
import { Search } from "lucide-react";
import { useRouter } from "next/navigation";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { IconButton } from "../_ui/button.tsx";
import { pageOfKey } from "./shortcut-list.ts";

const CommandPalette = lazyComponent(() => import("./command-palette.tsx"), "CommandPalette");
const ShortcutSheet = lazyComponent(() => import("./shortcut-sheet.tsx"), "ShortcutSheet");

const SEQUENCE_MS = 1_500;

type Opened = "palette" | "shortcuts" | null;
const CommandsContext = createContext<(opened: Opened) => void>(() => {});

/** Listens to the shortcuts, and shows the palette and the sheet of shortcuts, which load when opened. */
export function Commands({ children }: { readonly children: ReactNode }) {
  const [opened, setOpened] = useState<Opened>(null);
  const router = useRouter();
  useEffect(() => {
    let startedAt = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, metaKey, ctrlKey, altKey } = event;
      if ((metaKey || ctrlKey) && !altKey && key.toLowerCase() === "k") {
        event.preventDefault();
        setOpened((now) => (now === "palette" ? null : "palette"));
        return;
      }
      if (metaKey || ctrlKey || altKey || event.defaultPrevented || isTaken(event.target)) return;
      const page = pageOfKey(key);
      const isSecond = event.timeStamp - startedAt < SEQUENCE_MS && startedAt > 0;
      startedAt = !isSecond && key === "g" ? event.timeStamp : 0;
      if (isSecond && page !== undefined) router.push(page);
      else if (key === "?") setOpened("shortcuts");
      else if (key === "c") router.push("/chat");
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [router]);
  const close = () => setOpened(null);
  return (
    <CommandsContext value={setOpened}>
      {children}
      {opened === "palette" && (
        <CommandPalette onClose={close} onShowShortcuts={() => setOpened("shortcuts")} />
      )}
      {opened === "shortcuts" && <ShortcutSheet onClose={close} />}
    </CommandsContext>
  );
}

/** Keys belong to a text field that has the focus, and to an open dialog or menu. */
function isTaken(target: EventTarget | null): boolean {
  const isTyping =
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select"));
  return (
    isTyping ||
    document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null
  );
}

/** The button that opens the palette. */
export function SearchButton() {
  const open = useContext(CommandsContext);
  return (
    <IconButton
      icon={Search}
      isLarge
      label="Search"
      aria-keyshortcuts="Meta+K Control+K"
      title="Search (⌘K or Ctrl+K)"
      onClick={() => open("palette")}
    />
  );
}
