"use client";
import { useState } from "react";
import { api } from "@/app/(console)/_api/request.ts";
import { publishChatEvent } from "@/app/(console)/chat/_state/chat-events.ts";
import { toast } from "../../_ui/toast.tsx";
import { pathOf, type RowTarget } from "./row-target.ts";

/** The title of a chat as a text field in its row. */
export function RenameForm({
  target,
  onDone,
}: {
  readonly target: RowTarget;
  readonly onDone: () => void;
}) {
  const { title, sessionId, chatId } = target;
  const [text, setText] = useState(title);
  const save = async () => {
    onDone();
    const next = text.trim();
    if (next === "" || next === title) return;
    const result = await api(pathOf(target), { method: "PATCH", body: { title: next } });
    if (!result.ok) toast(result.error.message, "danger");
    publishChatEvent({ sessionId, chatId, type: "changed" });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the user just chose "Rename"
        autoFocus
        aria-label={`New name for ${title}`}
        value={text}
        maxLength={200}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          onDone();
        }}
        className="h-8 w-full rounded-md border border-input bg-surface px-2 max-sm:text-[16px]"
      />
    </form>
  );
}
