import { useSyncExternalStore } from "react";
import { Dialog } from "../_ui/dialog.tsx";
import { shortcutGroups } from "./shortcut-list.ts";

export const ShortcutSheet = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog onClose={onClose} title="Keyboard shortcuts" className="max-w-2xl">
    <div className="gap-x-10 sm:columns-2">
      {shortcutGroups.map(({ title, shortcuts }) => (
        <section key={title} className="mb-6 break-inside-avoid">
          <h3 className="mb-1 text-sm font-medium text-muted-foreground">{title}</h3>
          <dl>
            {shortcuts.map(({ keys, label }) => (
              <div key={label} className="flex items-center justify-between gap-4 border-b py-1.5">
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

const subscribe = () => () => {};
const isMac = () => /Mac|iPhone|iPad/.test(navigator.platform);

/** Keys of a shortcut. `mod` is ⌘ on a Mac and Ctrl elsewhere. */
export function Kbd({ keys }: { readonly keys: readonly string[] }) {
  const mac = useSyncExternalStore(subscribe, isMac, () => false);
  return (
    <span className="inline-flex shrink-0 gap-0.5">
      {keys.map((key) => (
        <kbd
          key={key}
          className="grid h-5 min-w-5 place-items-center rounded border bg-surface px-1 font-sans text-xs text-muted-foreground"
        >
          {key === "mod" ? (mac ? "⌘" : "Ctrl") : key}
        </kbd>
      ))}
    </span>
  );
}
