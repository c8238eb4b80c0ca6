"use client";
import { useSyncExternalStore } from "react";

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
