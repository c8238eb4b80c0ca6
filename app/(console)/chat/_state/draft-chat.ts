import { type ApiError, api } from "@/app/(console)/_api/request.ts";
import { scopeOfSession } from "@/app/(console)/_session/scope.ts";
import type { Chat, Session } from "@/lib/sessions/session.ts";

export type CreatedChat =
  | { readonly ok: true; readonly sessionId: string; readonly chat: Chat }
  | { readonly ok: false; readonly error: ApiError };

/** The chat that a first message begins. It is created for the first file, or else for the message. */
export class DraftChat {
  #created: Promise<CreatedChat> | null = null;

  /** Creates the chat with its session and sandbox, once. */
  async create(): Promise<CreatedChat> {
    this.#created ??= createChat();
    const created = await this.#created;
    if (!created.ok) this.#created = null;
    return created;
  }

  /** Creates the chat and sets its model; an empty id is the default model. */
  async begin(modelId: string): Promise<CreatedChat> {
    const created = await this.create();
    if (!created.ok || modelId === "") return created;
    const path = `/api/sessions/${created.sessionId}/chats/${created.chat.id}`;
    const chosen = await api<{ chat: Chat }>(path, { method: "PATCH", body: { modelId } });
    return chosen.ok ? { ...created, chat: chosen.data.chat } : chosen;
  }

  /** Leaves the chat to its page. */
  release(): void {
    this.#created = null;
  }

  /** Deletes what was created for a message that was never sent. */
  async discard(): Promise<void> {
    const creating = this.#created;
    // A file that is added meanwhile begins another chat.
    this.#created = null;
    const created = await creating;
    if (created?.ok) await api(`/api/sessions/${created.sessionId}`, { method: "DELETE" });
  }
}

async function createChat(): Promise<CreatedChat> {
  const created = await api<{ session: Session; chat: Chat }>("/api/sessions", {
    body: scopeOfSession(),
  });
  if (!created.ok) return created;
  const { session, chat } = created.data;
  // If this fails, the first message provisions the sandbox.
  await api("/api/sandbox", { body: { sessionId: session.id } });
  return { ok: true, sessionId: session.id, chat };
}
