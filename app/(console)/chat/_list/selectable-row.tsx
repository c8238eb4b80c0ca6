"use client";
import { cn } from "../../_ui/class-names.ts";

/** A chat with a check box, while chats are being selected. */
export function SelectableRow({
  title,
  isSelected,
  onToggle,
}: {
  readonly title: string;
  readonly isSelected: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <label
      title={title}
      className={cn(
        "flex h-8 cursor-pointer items-center gap-2.5 rounded-md px-2 hover:bg-hover",
        isSelected && "bg-accent-soft",
      )}
    >
      <input
        type="checkbox"
        checked={isSelected}
        onChange={onToggle}
        className="size-4 shrink-0 accent-(--accent)"
      />
      <span className="min-w-0 truncate">{title}</span>
    </label>
  );
}
