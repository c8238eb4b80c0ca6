import { type ComponentProps, type ReactNode, type RefObject, useRef, useState } from "react";

/** The properties that `AnchoredMenu` takes from its button. */
export interface MenuState {
  readonly button: RefObject<HTMLButtonElement | null>;
  /** True if a key opened the menu, maybe before its code was loaded; its first item then gets the focus. */
  readonly openedByKey: RefObject<boolean>;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

type MenuButtonProps = ComponentProps<"button"> & {
  readonly menu: (state: MenuState) => ReactNode;
};

/** A button for a menu whose code is loaded later than the button. It stays the same element, because it may have the focus. */
export function MenuButton({ menu, ...rest }: MenuButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const openedByKey = useRef(false);
  return (
    <>
      <button
        {...rest}
        ref={button}
        type="button"
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
      />
      {menu({ button, openedByKey, open: isOpen, onOpenChange: setOpen })}
    </>
  );
}
