import { randomUUID } from "node:crypto";
import { createChat, noRows } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

export const TEXT = [{ type: "text", text: "hello" }];

/** Creates an account with an empty chat. */
export async function openChat(transaction: Transaction) {
  const account = await transaction.account();
  const { session, chat } = noRows();
  await createChat(transaction, account, { session, chat });
  return { account, session, chat };
}

type OpenChat = Awaited<ReturnType<typeof openChat>>;

/** The arguments of `claim_turn_within` for the first message of a chat. */
export function claimOf({ account, session, chat }: OpenChat) {
  return {
    account_id: account,
    session_id: session,
    chat_id: chat,
    turn_id: randomUUID(),
    message_id: "m1",
    parts: TEXT,
    parts_before: null,
    assistant_message_id: "a1",
    title: "Hello",
    default_model_id: "auto",
    context_limit: null,
    history: null,
    key_hash: randomUUID(),
    key_prefix: "ap_run",
    key_name: "run",
    key_expires_at: "2100-01-01",
    max_active: 0,
    caller_key_id: null,
  };
}
