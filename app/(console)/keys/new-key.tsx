"use client";
import { CircleCheck, LoaderCircle } from "lucide-react";
import Link from "next/link";
import { type KeyList, useKeys } from "@/app/(console)/_hooks/shared-reads.ts";
import { Button } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import type { CreatedKey } from "./key-types.ts";

/** Shows a new key in full, for the only time, and a command that uses it. */
export function NewKey({
  created,
  onClose,
}: {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}) {
  const prompt = "Plan: approve the masters, send the artwork, pitch the playlists";
  const line = `curl ${location.origin}/api/chat/runs -H 'x-api-key: ${created.key}' -d '{"prompt":"${prompt}"}'`;
  const isUsed = useIsKeyUsed(created.id);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Key “${created.key_name}”`}
      description="Copy this key now. You will not be able to see it again."
    >
      <Secret label="key" text={created.key} />
      <h3 className="mt-5 text-sm font-medium">Try it in a terminal</h3>
      <p className="text-sm text-muted-foreground">
        It starts a chat, whose answer you find among your chats.
      </p>
      <Secret label="command" text={line} />
      <p role="status" className="mt-3 flex items-center gap-2 text-sm text-muted-foreground">
        {isUsed ? (
          <>
            <CircleCheck aria-hidden className="size-4 text-success-text" />
            <span>
              The key works: its first request has arrived.{" "}
              <Link href="/chat" className="text-accent-text underline-offset-4 hover:underline">
                Open chats
              </Link>
            </span>
          </>
        ) : (
          <>
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
            Waiting for the first request with this key…
          </>
        )}
      </p>
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  );
}

/** Whether a request with the key has arrived. */
function useIsKeyUsed(id: string): boolean {
  const isUsed = (data: KeyList | undefined) =>
    data?.keys.some((key) => key.id === id && key.last_used_at !== null) ?? false;
  return isUsed(useKeys(true, (data) => !isUsed(data) && 2_000).data);
}

function Secret({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div className="mt-1.5 flex items-start gap-2">
      <code className="min-w-0 flex-1 rounded-md border bg-muted px-3 py-2 font-mono text-sm break-all">
        {text}
      </code>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}
