"use client";
import { Archive, ListChecks, MessagesSquare } from "lucide-react";
import { AnchoredMenu, MenuItem } from "../../_ui/dropdown-menu.tsx";
import type { MenuState } from "./menu-button.tsx";

/** The menu of the whole list. */
export function ListMenu({
  isArchived,
  onSelect,
  onArchived,
  ...state
}: MenuState & {
  readonly isArchived: boolean;
  readonly onSelect: () => void;
  readonly onArchived: (isArchived: boolean) => void;
}) {
  return (
    <AnchoredMenu {...state} label="Chat list">
      <MenuItem onSelect={onSelect}>
        <ListChecks aria-hidden />
        Select chats
      </MenuItem>
      <MenuItem onSelect={() => onArchived(!isArchived)}>
        {isArchived ? <MessagesSquare aria-hidden /> : <Archive aria-hidden />}
        {isArchived ? "Show all chats" : "Show archived chats"}
      </MenuItem>
    </AnchoredMenu>
  );
}
