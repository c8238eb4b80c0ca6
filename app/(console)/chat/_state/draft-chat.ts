import type { Chat } from "@/lib/sessions/session.ts";
import { type ApiError, api } from "../../_api/request.ts";
import { scopeOfSession } from "../../_session/scope.ts";
import { pathOf } from "../_list/row-target.ts";
import type { ChatAddress } from "./attachment.ts";
import type { UnsentMessage } from "./drafts.ts";
import type { StoredChat } from "./message-parts.ts";

export type CreatedChat =
  | { readonly ok: true; readonly sessionId: string; readonly chat: Chat }
  | { readonly ok: false; readonly error: ApiError };

/** What the agent of a new chat gets. An empty model is the default. */
export interface ChatSetup {
  readonly modelId: string;
  readonly connectors: readonly string[];
}

/** The chat that a first message begins. It is created for the first file, or else for the message. */
export class DraftChat {
  readonly #sessionId: string | null;
  #created: Promise<CreatedChat> | null = null;
  #resumed: ChatAddress | null = null;

  constructor(sessionId: string | null) {
    this.#sessionId = sessionId;
  }

  /** Continues with a chat that was created before the page was loaded. */
  resume(chat: ChatAddress): void {
    this.#resumed = chat;
  }

  /**
   * Continues with a message that was being sent when the page was left. Returns whether the service has
   * stored it.
   */
  async recover({ id, chat }: UnsentMessage): Promise<boolean> {
    if (chat === null) return false;
    const read = await api<StoredChat>(pathOf(chat));
    if (read.ok && read.data.messages.some((message) => message.id === id)) return true;
    if (read.ok || read.error.status !== 404) this.resume(chat);
    return false;
  }

  /** Whether the chat was created, or is being created. */
  get isCreated(): boolean {
    return this.#created !== null || this.#resumed !== null;
  }

  /** Creates the chat, with its session and sandbox, once. */
  async create(setup: Partial<ChatSetup> = {}): Promise<CreatedChat> {
    this.#created ??= this.#readOrCreate(setup);
    const created = await this.#created;
    if (!created.ok) this.#created = null;
    return created;
  }

  async #readOrCreate({ modelId, connectors }: Partial<ChatSetup>): Promise<CreatedChat> {
    if (this.#resumed !== null) {
      const { sessionId } = this.#resumed;
      const read = await api<StoredChat>(pathOf(this.#resumed));
      if (read.ok) return { ok: true, sessionId, chat: read.data.chat };
      if (read.error.status !== 404) return read;
      // It has been deleted.
      this.#resumed = null;
    }
    const sessionId = this.#sessionId;
    const [path, scope] =
      sessionId === null
        ? ["/api/sessions", { ...scopeOfSession(), sandbox: true }]
        : [`/api/sessions/${sessionId}/chats`, {}];
    const body = {
      ...scope,
      ...(modelId && { modelId }),
      ...(connectors?.length && { connectors }),
    };
    const created = await api<{ chat: Chat }>(path, { body });
    if (!created.ok) return created;
    const { chat } = created.data;
    return { ok: true, sessionId: chat.sessionId, chat };
  }

  release(): void {
    this.#created = null;
    this.#resumed = null;
  }

  /** Deletes what was created for a message that was not stored. */
  async discard(): Promise<void> {
    const creating = this.#created;
    const resumed = this.#resumed;
    // A file that is added during the request starts another chat.
    this.release();
    const created = await creating;
    const address = created?.ok
      ? { sessionId: created.sessionId, chatId: created.chat.id }
      : resumed;
    if (address === null) return;
    // Another tab shows the same draft, and may have sent it.
    const read = await api<StoredChat>(pathOf(address));
    if (!read.ok || read.data.messages.length > 0) return;
    const isOwn = this.#sessionId === null;
    await api(isOwn ? `/api/sessions/${address.sessionId}` : pathOf(address), { method: "DELETE" });
  }
}
