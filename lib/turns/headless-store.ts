/** Headless runs in the database (supabase/migrations/…_headless.sql). */
import type { UIMessage } from "ai";
import { z } from "zod";
import { config } from "../platform/config.ts";
import { call } from "../platform/database/query.ts";
import type { Claim } from "./claim-store.ts";
import { type Run, run } from "./contract.ts";

export interface RunPlan {
  readonly accountId: string;
  readonly artistId: string | null;
  /** A second plan with the same id is answered what the first one made. */
  readonly effectId: string;
  readonly turnId: string;
  readonly assistantMessageId: string;
  readonly title: string;
  readonly modelId: string;
  /** The last of them is answered. */
  readonly messages: readonly UIMessage[];
  readonly key: Claim["key"];
}

const provisioned = z
  .object({
    turn_id: z.string(),
    session_id: z.string(),
    chat_id: z.string(),
    run_id: z.string().nullable(),
  })
  .transform((row) => ({
    turnId: row.turn_id,
    sessionId: row.session_id,
    chatId: row.chat_id,
    /** Null until the run was started. */
    runId: row.run_id,
  }));
export type ProvisionedRun = z.output<typeof provisioned>;

/**
 * Session, chat, messages, key and the claim on the chat: all of them, or none.
 * @returns null when the account has `ACCOUNT_ACTIVE_TURNS` turns already.
 */
export function provisionRun(plan: RunPlan): Promise<ProvisionedRun | null> {
  const { key } = plan;
  return call(
    "provision_run_within",
    {
      p_max_active: config().ACCOUNT_ACTIVE_TURNS,
      p: {
        account_id: plan.accountId,
        artist_id: plan.artistId,
        effect_id: plan.effectId,
        turn_id: plan.turnId,
        assistant_message_id: plan.assistantMessageId,
        title: plan.title,
        model_id: plan.modelId,
        messages: plan.messages.map(({ id, role, parts }) => ({ id, role, parts })),
        key: {
          hash: key.hash,
          prefix: key.prefix,
          name: key.name,
          expires_at: key.expiresAt,
        },
      },
    },
    provisioned.nullable(),
  );
}

/** Takes back what `provisionRun` made. @returns false when its run has started after all. */
export async function discardRun(turnId: string): Promise<boolean> {
  const schema = z.object({ discarded: z.boolean() });
  return (await call("discard_run", { p_turn_id: turnId }, schema)).discarded;
}

/** @returns the turn's run, which another attempt may have started first; null when it is gone. */
export async function assignRun(turnId: string, runId: string): Promise<string | null> {
  const schema = z.object({ run_id: z.string().nullable() });
  return (await call("assign_run", { p_turn_id: turnId, p_run_id: runId }, schema)).run_id;
}

const foundRun = z.discriminatedUnion("missing", [
  z.object({ missing: z.literal(true) }),
  z.object({ missing: z.literal(false), turnId: z.string(), run }),
]);

/** A run of the account, headless or not; null when there is none. */
export async function selectRun(
  accountId: string,
  runId: string,
): Promise<{ turnId: string; run: Run } | null> {
  const found = await call("get_run", { p_account_id: accountId, p_run_id: runId }, foundRun);
  return found.missing ? null : found;
}
