"use client";
import { Sparkles } from "lucide-react";
import { useRouter } from "next/navigation";
import { useCallback, useState } from "react";
import { type ApiError, api } from "@/app/(console)/_hooks/api.ts";
import { tellChats } from "@/app/(console)/chat/_state/channel.ts";
import { openConversation } from "@/app/(console)/chat/_state/open-conversations.ts";
import type { Chat, Session } from "@/lib/sessions/session.ts";
import { ErrorState } from "../../_ui/error-state.tsx";
import { Composer } from "./composer.tsx";
import { ModelChoice } from "./model-choice.tsx";

/** Each shows another side of the agent, also with the embedded model. */
const suggestions = [
  { title: "Look around", text: "Run `uname -a; ls -la` and list files" },
  {
    title: "Write a file",
    text: 'Write "Track one, track two" to tracklist.txt, then read tracklist.txt',
  },
  { title: "Make a plan", text: "Plan: draft the release note, check the dates, send it" },
  { title: "Be asked", text: 'Ask me "Which format?" with options: album, single, EP' },
] as const;

const none = () => {};

/** The start of a chat: it is made, with its session, when the first message is sent. */
export function NewChat() {
  const router = useRouter();
  const [modelId, setModelId] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [returned, setReturned] = useState<string | null>(null);
  const takeReturned = useCallback(() => setReturned(null), []);

  const begin = async (text: string) => {
    setBusy(true);
    setError(null);
    const made = await makeChat(modelId);
    if (!made.ok) {
      setBusy(false);
      setError(made.error);
      setReturned(text);
      return;
    }
    const { sessionId, chat } = made;
    const conversation = openConversation(sessionId, chat.id);
    conversation.showChat(chat);
    void conversation.send(text);
    tellChats({ sessionId, chatId: chat.id, what: "changed" });
    router.push(`/chat/${sessionId}/${chat.id}`);
  };

  return (
    <div className="flex h-full flex-col overflow-y-auto">
      <div className="mx-auto flex w-full max-w-3xl flex-1 flex-col justify-center px-4 py-8">
        <span className="grid size-10 place-items-center rounded-xl bg-accent-soft text-accent-text">
          <Sparkles aria-hidden className="size-5" />
        </span>
        <h1 className="mt-4 text-2xl font-semibold tracking-tight">What shall we work on?</h1>
        <p className="mt-1 max-w-xl text-muted-foreground">
          The agent has a sandbox of its own: it runs commands, reads and writes files, and asks
          back.
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
        draftOf="new"
        isBusy={isBusy}
        isStopping={isBusy}
        canSend
        returned={returned}
        onTakeReturned={takeReturned}
        placeholder="Message the agent"
        onSend={(text) => void begin(text)}
        onStop={none}
      >
        <ModelChoice value={modelId} onChoose={setModelId} />
      </Composer>
    </div>
  );
}

type Made =
  | { readonly ok: true; readonly sessionId: string; readonly chat: Chat }
  | { readonly ok: false; readonly error: ApiError };

async function makeChat(modelId: string): Promise<Made> {
  const made = await api<{ session: Session; chat: Chat }>("/api/sessions", { body: {} });
  if (!made.ok) return made;
  const { session, chat } = made.data;
  // Without one the first message makes it.
  await api("/api/sandbox", { body: { sessionId: session.id } });
  if (modelId === "") return { ok: true, sessionId: session.id, chat };
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  const chosen = await api<{ chat: Chat }>(path, { method: "PATCH", body: { modelId } });
  return chosen.ok ? { ok: true, sessionId: session.id, chat: chosen.data.chat } : chosen;
}
