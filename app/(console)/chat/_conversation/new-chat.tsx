"use client";
import { Sparkles } from "lucide-react";
import { useRouter } from "next/navigation";
import { useCallback, useState } from "react";
import { type ApiError, api } from "@/app/(console)/_api/request.ts";
import { publishChatEvent } from "@/app/(console)/chat/_state/chat-events.ts";
import { openConversation } from "@/app/(console)/chat/_state/open-conversations.ts";
import type { Chat, Session } from "@/lib/sessions/session.ts";
import { ErrorState } from "../../_ui/error-state.tsx";
import { Composer } from "./composer.tsx";
import { ModelSelect } from "./model-select.tsx";

/** Prompts that show what the agent can do; they also work with the embedded model. */
const suggestions = [
  { title: "Explore the sandbox", text: "Run `uname -a; ls -la` and list files" },
  {
    title: "Write a file",
    text: 'Write "Track one, track two" to tracklist.txt, then read tracklist.txt',
  },
  { title: "Make a plan", text: "Plan: draft the release note, check the dates, send it" },
  { title: "Answer a question", text: 'Ask me "Which format?" with options: album, single, EP' },
] as const;

const ignore = () => {};

/** The page for a new chat. The session and the chat are created when the first message is sent. */
export function NewChat() {
  const router = useRouter();
  const [modelId, setModelId] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [returnedText, setReturnedText] = useState<string | null>(null);
  const takeReturnedText = useCallback(() => setReturnedText(null), []);

  const begin = async (text: string) => {
    setBusy(true);
    setError(null);
    const created = await createChat(modelId);
    if (!created.ok) {
      setBusy(false);
      setError(created.error);
      setReturnedText(text);
      return;
    }
    const { sessionId, chat } = created;
    const conversation = openConversation(sessionId, chat.id);
    conversation.showChat(chat);
    void conversation.send(text);
    publishChatEvent({ sessionId, chatId: chat.id, type: "changed" });
    router.push(`/chat/${sessionId}/${chat.id}`);
  };

  return (
    <div className="flex h-full flex-col overflow-y-auto">
      <div className="mx-auto flex w-full max-w-3xl flex-1 flex-col justify-center px-4 py-8">
        <span className="grid size-10 place-items-center rounded-xl bg-accent-soft text-accent-text">
          <Sparkles aria-hidden className="size-5" />
        </span>
        <h1 className="mt-4 text-2xl font-semibold tracking-tight">
          What would you like to work on?
        </h1>
        <p className="mt-1 max-w-xl text-muted-foreground">
          The agent works in its own sandbox. It runs commands, reads and writes files, and asks you
          when something is unclear.
        </p>
        <ul className="mt-6 grid gap-2 sm:grid-cols-2">
          {suggestions.map(({ title, text }) => (
            <li key={title}>
              <button
                type="button"
                disabled={isBusy}
                onClick={() => void begin(text)}
                className="h-full w-full rounded-xl border bg-surface px-4 py-3 text-left shadow-xs transition-colors hover:border-input hover:bg-muted disabled:opacity-55"
              >
                <span className="font-medium">{title}</span>
                <span className="mt-0.5 block text-sm text-muted-foreground">{text}</span>
              </button>
            </li>
          ))}
        </ul>
        {error && (
          <div className="mt-4">
            <ErrorState error={error} />
          </div>
        )}
      </div>
      <Composer
        draftKey="new"
        isBusy={isBusy}
        isStopping={isBusy}
        canSend
        returnedText={returnedText}
        onReturnedTextTaken={takeReturnedText}
        placeholder="Message the agent"
        onSend={(text) => void begin(text)}
        onStop={ignore}
      >
        <ModelSelect value={modelId} onChoose={setModelId} />
      </Composer>
    </div>
  );
}

type CreatedChat =
  | { readonly ok: true; readonly sessionId: string; readonly chat: Chat }
  | { readonly ok: false; readonly error: ApiError };

async function createChat(modelId: string): Promise<CreatedChat> {
  const created = await api<{ session: Session; chat: Chat }>("/api/sessions", { body: {} });
  if (!created.ok) return created;
  const { session, chat } = created.data;
  // If this fails, the first message provisions the sandbox.
  await api("/api/sandbox", { body: { sessionId: session.id } });
  if (modelId === "") return { ok: true, sessionId: session.id, chat };
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  const chosen = await api<{ chat: Chat }>(path, { method: "PATCH", body: { modelId } });
  return chosen.ok ? { ok: true, sessionId: session.id, chat: chosen.data.chat } : chosen;
}
