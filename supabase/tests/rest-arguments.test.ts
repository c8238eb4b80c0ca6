/** Functions through the REST server, which matches arguments by their names. */
import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { createAccount } from "../../tests/support/harness/clients.ts";
import { admin, sql } from "../../tests/support/harness/stack.ts";

const account = await createAccount();

afterEach(async () => {
  await sql`delete from sessions where account_id = ${account.id}`;
});

test("claim_turn takes a record with typed fields, of which null is SQL's", async () => {
  const [session] = await sql`insert into sessions (account_id, sandbox_state)
    values (${account.id}, '{}') returning id`;
  const [chat] = await sql`insert into chats (account_id, session_id)
    values (${account.id}, ${session?.id}) returning id`;
  const turnId = randomUUID();
  const { data, error } = await admin.rpc("claim_turn", {
    p_claim: {
      account_id: account.id,
      session_id: session?.id,
      chat_id: chat?.id,
      turn_id: turnId,
      message_id: "m1",
      parts: [{ type: "text", text: "hello" }],
      assistant_message_id: "a1",
      title: "Hello",
      default_model_id: "auto",
      context_limit: null,
      history: null,
      key_hash: randomUUID(),
      key_prefix: "ap_run",
      key_name: "run",
      key_expires_at: "2100-01-01T00:00:00.000Z",
      credential: "key",
    },
    p_on_busy: "reject",
    p_max_active: 5,
    p_max_queued: 0,
    p_max_account_bytes: 0,
    p_max_chat_bytes: 0,
  });
  expect({ data, error }).toEqual({ data: { outcome: "claimed" }, error: null });
  const [turn] = await sql`select history, context_limit from turns where id = ${turnId}`;
  expect(turn).toEqual({ history: null, context_limit: null });
});

test("provision_run takes typed arguments", async () => {
  const plan = {
    account_id: account.id,
    artist_id: null,
    effect_id: randomUUID(),
    turn_id: randomUUID(),
    assistant_message_id: "a1",
    title: "Hello",
    model_id: "auto",
    messages: [{ id: "m1", role: "user", parts: [] }],
  };
  const named = Object.entries(plan).map(([name, value]) => [`p_${name}`, value]);
  const typed = await admin.rpc("provision_run", {
    ...Object.fromEntries(named),
    p_key_hash: null,
    p_key_prefix: null,
    p_key_name: null,
    p_key_expires_at: null,
    p_max_active: 5,
    p_max_account_bytes: 0,
    p_kind: "headless",
    p_caller_key_id: null,
  });
  expect(typed).toMatchObject({ error: null, data: { turn_id: plan.turn_id } });
});
