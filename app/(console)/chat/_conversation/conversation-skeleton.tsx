"use client";
import type { ConnectionState } from "@/app/(console)/chat/_state/live-chat.ts";
import { Skeleton } from "../../_ui/skeleton.tsx";

/** The placeholder while a chat loads. */
export function ConversationSkeleton({ connection }: { readonly connection: ConnectionState }) {
  return (
    <div aria-busy="true" className="min-h-0 flex-1 overflow-hidden px-4 pt-6">
      <p className="sr-only" role="status">
        {connection === "live" ? "Loading chat…" : "ConnectionState lost. Reconnecting…"}
      </p>
      <div className="mx-auto flex max-w-3xl flex-col gap-6">
        <Skeleton className="h-9 w-2/5 self-end rounded-2xl" />
        <div className="flex flex-col gap-2">
          <Skeleton className="h-5 w-11/12" />
          <Skeleton className="h-5 w-4/5" />
          <Skeleton className="h-5 w-3/5" />
        </div>
      </div>
    </div>
  );
}
