"use client";
import { type ReactNode, type RefObject, useRef, useState } from "react";

/** What `AnchoredMenu` needs of its button. */
export interface MenuState {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly openedByKey: RefObject<boolean>;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** A button for a menu whose code is loaded when someone comes near. It stays the same element, because it may have the focus. */
export function MenuButton({
  label,
  icon,
  className,
  menu,
}: {
  readonly label: string;
  readonly icon: ReactNode;
  readonly className?: string;
  /** Null until the menu is to be loaded. */
  readonly menu: ((state: MenuState) => ReactNode) | null;
}) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const openedByKey = useRef(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={label}
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
        className={className}
      >
        {icon}
      </button>
      {menu?.({ button, openedByKey, open: isOpen, onOpenChange: setOpen })}
    </>
  );
}
