import { usePathname } from "next/navigation";
import { Dialog } from "radix-ui";
import { useEffect, useRef } from "react";
import { useFocusReturn } from "../_ui/dialog.tsx";
import { X } from "../_ui/icons.tsx";
import { ChatSidebar } from "../chat/_list/chat-sidebar.tsx";
import { Account, Brand, Navigation, ScopeSwitcher } from "./navigation.tsx";

/** The sidebar on a phone. It closes when a link is followed, also to the same page, and when another page is opened. */
export function Drawer({ onClose }: { readonly onClose: () => void }) {
  const path = usePathname();
  const opened = useRef(path);
  const focus = useFocusReturn();
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (path !== opened.current) onClose();
  }, [path, onClose]);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45 md:hidden" />
        <Dialog.Content
          onOpenAutoFocus={(event) => {
            focus.onOpenAutoFocus();
            event.preventDefault();
            body.current?.querySelector<HTMLElement>("button, a[href]")?.focus();
          }}
          onCloseAutoFocus={focus.onCloseAutoFocus}
          aria-describedby={undefined}
          onClick={({ target }) => {
            if (target instanceof Element && target.closest("a")) onClose();
          }}
          onInteractOutside={(event) => {
            // Menus of the drawer's content are rendered outside of it.
            const { target } = event;
            if (target instanceof Element && target.closest("[role=menu]")) event.preventDefault();
          }}
          className="fixed inset-y-0 left-0 z-50 flex w-[min(18rem,85vw)] flex-col border-r bg-sidebar shadow-xl animate-slide-in md:hidden"
        >
          <Dialog.Title className="sr-only">Navigation</Dialog.Title>
          <div className="flex h-12 shrink-0 items-center justify-between px-4">
            <Brand />
            <Dialog.Close
              aria-label="Close navigation"
              className="grid size-8 place-items-center rounded-md hover:bg-hover"
            >
              <X aria-hidden className="size-4" />
            </Dialog.Close>
          </div>
          <div ref={body} className="shrink-0 px-2 pb-2">
            <ScopeSwitcher />
          </div>
          <div className="min-h-28 shrink overflow-y-auto px-2 pb-2">
            <Navigation />
          </div>
          <ChatSidebar />
          <Account />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
