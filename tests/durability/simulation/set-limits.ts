/** Limits the cost of an account's model calls, or of those in the turns of a chat. */
import type { Node } from "./cluster.ts";
import type { Chat, Model } from "./model.ts";
import { attempt, callerAt, expectOneOf } from "./requests.ts";

/** About the cost of the fake model's shortest call. */
const CALL_USD = 0.006;

export async function setBudget(model: Model, calls: number | null): Promise<string> {
  const { sql } = model.cluster.workspace;
  const [row] = await sql`
    update accounts set monthly_budget_usd = (
      select coalesce(sum(cost_usd), 0) + ${calls}::numeric * ${CALL_USD}::numeric
      from usage_entries where account_id = ${model.accountId})
    where id = ${model.accountId}
    returning monthly_budget_usd::float as usd`;
  // After the commit, because a call that was recorded before knows no budget.
  const [now] = await sql`select clock_timestamp()::text as since`;
  model.budget = calls === null ? null : { usd: Number(row?.usd), since: String(now?.since) };
  return "";
}

export async function setLimit(
  model: Model,
  node: Node,
  chat: Chat,
  calls: number | null,
): Promise<string> {
  const { sessionId, chatId } = chat.conversation;
  const limits = calls === null ? {} : { max_cost_usd: (calls + 0.5) * CALL_USD, max_steps: 20 };
  const path = `/api/sessions/${sessionId}/chats/${chatId}`;
  const changed = await attempt(() => callerAt(model, node).patch(path, { limits }));
  return expectOneOf(chat, changed, [200]);
}
