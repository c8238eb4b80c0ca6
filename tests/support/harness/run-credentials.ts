/** Credentials as the sandbox of a running turn has them. */
import { randomBytes, randomUUID } from "node:crypto";
import type { RunCredentialForm } from "../../../lib/identity/keys/derive-run-credential.ts";
import {
  formatKey,
  formatRunToken,
  hashKey,
  PREFIX_LENGTH,
} from "../../../lib/identity/keys/key-format.ts";
import { registerSecret } from "../secrets/register.ts";
import { setting, sql } from "./stack.ts";

/**
 * Creates a running turn with its credential, and the headers that authenticate with it.
 * @param sessionId of the account; a new one by default
 */
export async function createRunCredential(
  accountId: string,
  form: RunCredentialForm,
  sessionId: string = randomUUID(),
) {
  const [chatId, turnId, keyId] = [randomUUID(), randomUUID(), randomUUID()];
  const raw = form === "key" ? formatKey(randomBytes(32)) : formatRunToken(randomBytes(32));
  const hash = hashKey(raw, setting("API_KEY_SECRET"));
  await sql.begin(async (tx) => {
    await tx`insert into sessions (id, account_id) values (${sessionId}, ${accountId})
      on conflict (id) do nothing`;
    await tx`insert into chats (id, session_id, account_id)
      values (${chatId}, ${sessionId}, ${accountId})`;
    await tx`insert into api_keys (id, account_id, name, hash, prefix, scope)
      values (${keyId}, ${accountId}, 'run', ${hash}, ${raw.slice(0, PREFIX_LENGTH)}, 'run')`;
    await tx`insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
        assistant_message_id, model_id, key_id)
      values (${turnId}, ${accountId}, ${sessionId}, ${chatId}, ${`wrun_${turnId}`}, 'running', 'm1',
        'm2', 'embedded/rules', ${keyId})`;
  });
  registerSecret(raw, "run credential");
  const headers: Record<string, string> =
    form === "key" ? { "x-api-key": raw } : { authorization: `Bearer ${raw}` };
  return { raw, headers, sessionId, chatId, turnId };
}
