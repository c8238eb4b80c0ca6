"use client";
import { Dialog } from "../_ui/dialog.tsx";
import { Kbd } from "../_ui/kbd.tsx";
import { shortcutGroups } from "./shortcut-list.ts";

export function ShortcutSheet({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Keyboard shortcuts"
      className="max-w-2xl"
    >
      <div className="gap-x-10 sm:columns-2">
        {shortcutGroups.map(({ title, shortcuts }) => (
          <section key={title} className="mb-6 break-inside-avoid">
            <h3 className="mb-1 text-sm font-medium text-muted-foreground">{title}</h3>
            <dl>
              {shortcuts.map(({ keys, label }) => (
                <div
                  key={label}
                  className="flex items-center justify-between gap-4 border-b py-1.5"
                >
                  <dt>{label}</dt>
                  <dd>
                    <Kbd keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
