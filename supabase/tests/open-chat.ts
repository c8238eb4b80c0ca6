import { randomUUID } from "node:crypto";
import { createChat, noRows } from "./rows.ts";
import type { Argument, Transaction } from "./transaction.ts";

export const TEXT = [{ type: "text", text: "hello" }];

/** Creates an account with an empty chat. */
export async function openChat(transaction: Transaction) {
  const account = await transaction.account();
  const { session, chat } = noRows();
  await createChat(transaction, account, { session, chat });
  return { account, session, chat };
}

type OpenChat = Awaited<ReturnType<typeof openChat>>;

/** Ends a turn as the process that has loaded it last. */
export async function endTurn(
  transaction: Transaction,
  turn_id: string,
  given: Readonly<Record<string, Argument>> = {},
): Promise<unknown> {
  const [turn] = await transaction.sql`
    select account_id, loads as load from turns where id = ${turn_id}`;
  return transaction.call("finish_turn", {
    ...{ account_id: turn?.account_id, turn_id, load: turn?.load, status: "completed" },
    ...{ error: null, parts: TEXT, metadata: null, index: null, step: null, usage: [] },
    ...given,
  });
}

/** The claim of the first message of a chat. */
export function claimOf({ account, session, chat }: OpenChat) {
  return {
    account_id: account,
    session_id: session,
    chat_id: chat,
    turn_id: randomUUID(),
    message_id: "m1",
    parts: TEXT,
    parts_before: null,
    parent_id: null,
    replaces_answer: null,
    assistant_message_id: "a1",
    title: "Hello",
    default_model_id: "auto",
    context_limit: null,
    history: null,
    key_hash: randomUUID(),
    key_prefix: "ap_run",
    key_name: "run",
    key_expires_at: "2100-01-01",
    caller_key_id: null,
    credential: "key",
  };
}

/** Claims a chat, or what `given` changes of that: by default without limits and without a queue. */
export const claimTurn = (
  transaction: Transaction,
  claim: Argument,
  given: Readonly<Record<string, Argument>> = {},
): Promise<unknown> =>
  transaction.call("claim_turn", {
    ...{ claim, on_busy: "reject", max_active: 0, max_queued: 10 },
    ...{ max_account_bytes: 0, max_chat_bytes: 0 },
    ...given,
  });
