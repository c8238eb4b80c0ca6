"use client";
import { useSyncExternalStore } from "react";
import { Button } from "../_ui/button.tsx";
import { isOutdated, onOutdated } from "./load-module.ts";

const notYet = () => false;

/** Says that the page was replaced by a deployment, once code of it cannot be loaded any more. */
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
