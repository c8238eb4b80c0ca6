"use client";
import { useEffect, useState } from "react";
import { Attachments } from "@/app/(console)/chat/_state/attachments.ts";
import { DraftChat } from "@/app/(console)/chat/_state/draft-chat.ts";

/**
 * Returns a chat that does not exist yet. What was created for it is deleted if no message is sent, unless
 * it has files: these stay with the draft, over a reload too.
 *
 * @param draftKey the key of the draft
 */
export function useDraftChat(draftKey: string) {
  const [{ draft, attachments }] = useState(() => {
    const chat = new DraftChat();
    const files = new Attachments({
      draftKey,
      resume: (address) => chat.resume(address),
      findChat: async () => {
        const created = await chat.create();
        return created.ok
          ? { sessionId: created.sessionId, chatId: created.chat.id }
          : { error: created.error.message };
      },
    });
    return { draft: chat, attachments: files };
  });
  useEffect(
    () => () => {
      if (!attachments.leave()) void draft.discard();
    },
    [draft, attachments],
  );
  return { draft, attachments };
}
