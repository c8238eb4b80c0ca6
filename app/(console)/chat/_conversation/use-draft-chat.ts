"use client";
import { useEffect, useState } from "react";
import { Attachments } from "@/app/(console)/chat/_state/attachments.ts";
import { DraftChat } from "@/app/(console)/chat/_state/draft-chat.ts";

/** Returns a chat that does not exist yet. What was created for it is deleted if no message is sent. */
export function useDraftChat() {
  const [{ draft, attachments }] = useState(() => {
    const chat = new DraftChat();
    const files = new Attachments(async () => {
      const created = await chat.create();
      return created.ok ? created : { error: created.error.message };
    });
    return { draft: chat, attachments: files };
  });
  useEffect(
    () => () => {
      attachments.clear();
      void draft.discard();
    },
    [draft, attachments],
  );
  return { draft, attachments };
}
