"use client";
import { Archive, ListChecks, MessagesSquare } from "lucide-react";
import { AnchoredMenu, MenuItem } from "../../_ui/dropdown-menu.tsx";
import type { MenuState } from "../../_ui/menu-button.tsx";

type ListMenuProps = MenuState & {
  readonly isArchived: boolean;
  readonly onSelect: () => void;
  readonly onArchived: (isArchived: boolean) => void;
};

/** The menu of the whole list. */
export function ListMenu({ isArchived, onSelect, onArchived, ...state }: ListMenuProps) {
  return (
    <AnchoredMenu {...state} label="Chat list">
      <MenuItem icon={ListChecks} onSelect={onSelect}>
        Select chats
      </MenuItem>
      <MenuItem
        icon={isArchived ? MessagesSquare : Archive}
        onSelect={() => onArchived(!isArchived)}
      >
        {isArchived ? "Show all chats" : "Show archived chats"}
      </MenuItem>
    </AnchoredMenu>
  );
}
