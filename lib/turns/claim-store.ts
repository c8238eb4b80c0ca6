/** The claim on a chat, as far as requests make, find and stop it. */
import type { UIMessage } from "ai";
import { z } from "zod";
import { config } from "../platform/config.ts";
import { db } from "../platform/database/client.ts";
import { call, parseAnswer } from "../platform/database/query.ts";

export interface Claim {
  readonly accountId: string;
  readonly sessionId: string;
  readonly chatId: string;
  readonly turnId: string;
  /** The message that is answered. */
  readonly messageId: string;
  readonly assistantMessageId: string;
  readonly title: string;
  readonly defaultModelId: string;
  readonly contextLimit: number | null;
  /** The whole conversation, when the client sent it. */
  readonly history: readonly UIMessage[] | null;
  readonly message: { readonly id: string; readonly parts: UIMessage["parts"] } | null;
  readonly answer: {
    readonly id: string;
    readonly partsBefore: UIMessage["parts"];
    readonly parts: UIMessage["parts"];
  } | null;
  readonly key: {
    readonly hash: string;
    readonly prefix: string;
    readonly name: string;
    readonly expiresAt: string;
  };
}

const claimed = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("claimed") }),
  z.object({
    outcome: z.literal("active"),
    turn_id: z.string(),
    run_id: z.string().nullable(),
    message_id: z.string(),
  }),
  z.object({
    outcome: z.enum([
      "session_missing",
      "chat_missing",
      "sandbox_missing",
      "too_many_turns",
      "id_taken",
      "answer_stale",
    ]),
  }),
]);
export type ClaimOutcome = z.output<typeof claimed>;

/** Claims the chat, as one of at most `ACCOUNT_ACTIVE_TURNS` turns of the account. */
export function claimTurn(claim: Claim): Promise<ClaimOutcome> {
  const { answer, key } = claim;
  return call(
    "claim_turn_within",
    {
      p_max_active: config().ACCOUNT_ACTIVE_TURNS,
      p: {
        account_id: claim.accountId,
        session_id: claim.sessionId,
        chat_id: claim.chatId,
        turn_id: claim.turnId,
        message_id: claim.messageId,
        assistant_message_id: claim.assistantMessageId,
        title: claim.title,
        default_model_id: claim.defaultModelId,
        context_limit: claim.contextLimit,
        headless: false,
        history: claim.history,
        message: claim.message,
        answer: answer && { id: answer.id, parts_before: answer.partsBefore, parts: answer.parts },
        key: {
          hash: key.hash,
          prefix: key.prefix,
          name: key.name,
          expires_at: key.expiresAt,
        },
      },
    },
    claimed,
  );
}

export async function abandonTurn(turnId: string): Promise<void> {
  await call("abandon_turn", { p_turn_id: turnId }, z.unknown());
}

const found = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.enum(["chat_missing", "idle"]) }),
  z.object({
    outcome: z.literal("active"),
    turn_id: z.string(),
    run_id: z.string().nullable(),
  }),
]);

export function findActiveTurn(accountId: string, chatId: string) {
  return call("find_active_turn", { p_account_id: accountId, p_chat_id: chatId }, found);
}

/** Flags the turn that is active now, if any. */
export function requestStop(accountId: string, chatId: string) {
  return call("request_stop", { p_account_id: accountId, p_chat_id: chatId }, found);
}

/** Flags every active turn of the session. @returns their ids. */
export function requestSessionStop(sessionId: string): Promise<string[]> {
  return call("request_session_stop", { p_session_id: sessionId }, z.array(z.string()));
}

/** The parts of a stored assistant message of the caller's chat, null when there is none. */
export async function assistantParts(
  accountId: string,
  chatId: string,
  messageId: string,
): Promise<UIMessage["parts"] | null> {
  const rows = parseAnswer(
    "read assistant message",
    await db()
      .from("messages")
      .select("parts, chats!inner(account_id)")
      .eq("chat_id", chatId)
      .eq("id", messageId)
      .eq("role", "assistant")
      .eq("chats.account_id", accountId),
    // Written by this service alone.
    z.array(z.object({ parts: z.custom<UIMessage["parts"]>(Array.isArray) })),
  );
  return rows[0]?.parts ?? null;
}
