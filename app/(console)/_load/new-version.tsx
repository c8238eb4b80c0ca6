"use client";
import { useSyncExternalStore } from "react";
import { Button } from "../_ui/button.tsx";
import { isOutdated, onOutdated } from "./load-module.ts";

const notYet = () => false;

/** Notifies the user that a deployment replaced the page, once its code can no longer be loaded. */
export function NewVersion() {
  const isShown = useSyncExternalStore(onOutdated, isOutdated, notYet);
  return (
    <div role="status" className="fixed inset-x-4 top-15 z-50 mx-auto w-fit">
      {isShown && (
        <div className="flex items-center gap-3 rounded-lg border bg-surface py-2 pr-2 pl-3 shadow-lg">
          <span>A new version is available.</span>
          <Button size="sm" onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      )}
    </div>
  );
}
