import { DropdownMenu as Base } from "radix-ui";
import { type ComponentProps, type ReactNode, useRef } from "react";
import { cn } from "./class-names.ts";
import type { IconComponent } from "./icons.tsx";
import type { MenuState } from "./menu-button.tsx";

const contentStyle = "z-50 min-w-40 rounded-lg border bg-surface p-1 shadow-lg animate-appear";

/**
 * A menu for a button that is rendered before the code of this menu is loaded. The button is not the
 * trigger: it controls `open` and has its own ARIA attributes.
 */
export function AnchoredMenu({
  label,
  button,
  openedByKey,
  open,
  onOpenChange,
  children,
}: MenuState & { readonly label: string; readonly children: ReactNode }) {
  const wasLeft = useRef(false);
  return (
    <Base.Root modal={false} open={open} onOpenChange={onOpenChange}>
      <Base.Trigger asChild>
        <span aria-hidden tabIndex={-1} className="pointer-events-none absolute right-0.5 size-7" />
      </Base.Trigger>
      <Base.Portal>
        <Base.Content
          aria-label={label}
          aria-labelledby={undefined}
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className={contentStyle}
          onFocus={({ target, currentTarget }) => {
            if (!openedByKey.current || target !== currentTarget) return;
            openedByKey.current = false;
            currentTarget.querySelector<HTMLElement>('[role^="menuitem"]')?.focus();
          }}
          onInteractOutside={(event) => {
            // The button closes the menu by itself. If the menu closed first, the click would open it again.
            if (event.target instanceof Node && button.current?.contains(event.target)) {
              event.preventDefault();
            } else wasLeft.current = true;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (!wasLeft.current) button.current?.focus();
            wasLeft.current = false;
          }}
        >
          {children}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

export const MenuItem = ({
  danger = false,
  icon: Icon,
  children,
  ...rest
}: ComponentProps<typeof Base.Item> & {
  readonly danger?: boolean;
  readonly icon?: IconComponent;
}) => (
  <Base.Item
    {...rest}
    className={cn(
      "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-base outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:text-muted-foreground",
      danger && "text-danger-text data-highlighted:bg-danger-soft [&_svg]:text-danger-text",
    )}
  >
    {Icon && <Icon aria-hidden />}
    {children}
  </Base.Item>
);

export const MenuSeparator = () => <Base.Separator className="-mx-1 my-1 h-px bg-border" />;
