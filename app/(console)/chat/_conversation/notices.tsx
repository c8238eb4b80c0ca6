"use client";
import { CircleAlert, WifiOff, X } from "lucide-react";
import { useEffect, useState } from "react";
import type { ConversationView } from "@/app/(console)/chat/_state/conversation.ts";

/** A connection that is back at once is not worth a word. */
const PATIENCE_MS = 800;

/** What a person should know right now: no connection, or what went wrong. For screen readers also the turn. */
export function Notices({
  view: { connection, fault, isReading },
  onDismiss,
}: {
  readonly view: ConversationView;
  readonly onDismiss: () => void;
}) {
  const isLost = useLasting(connection === "lost", PATIENCE_MS);
  const [wasBusy, setWasBusy] = useState(isReading);
  if (isReading && !wasBusy) setWasBusy(true);
  return (
    <div className="mx-auto w-full max-w-3xl px-4">
      <p className="sr-only" role="status">
        {isReading ? "The agent is answering" : wasBusy ? "The agent has answered" : ""}
      </p>
      <div role="status">
        {isLost && (
          <p className="mb-2 flex items-center gap-2 rounded-lg bg-warning-soft px-3 py-2 text-sm text-warning-text">
            <WifiOff aria-hidden className="size-4 shrink-0" />
            No connection. It reconnects by itself, and nothing is lost.
          </p>
        )}
      </div>
      {fault && (
        <div
          role="alert"
          className="mb-2 flex items-start gap-2 rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-text"
        >
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            {fault.text}
            {fault.requestId !== null && (
              <span className="block text-xs opacity-80">Request {fault.requestId}</span>
            )}
          </p>
          <button
            type="button"
            aria-label="Dismiss"
            onClick={onDismiss}
            className="-m-1 grid size-7 shrink-0 place-items-center rounded-md hover:bg-danger-soft"
          >
            <X aria-hidden className="size-3.5" />
          </button>
        </div>
      )}
    </div>
  );
}

/** True once `value` has been true for so long; false at once. */
function useLasting(value: boolean, ms: number): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!value) {
      setLasts(false);
      return;
    }
    const timer = setTimeout(() => setLasts(true), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return value && lasts;
}
