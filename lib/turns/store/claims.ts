/** The queries with which requests claim a chat, find its active turn and stop it. */

import type { ClientTool } from "@platform/agent/tools/client-tools";
import type { UIMessage } from "ai";
import { z } from "zod";
import {
  deriveRunCredential,
  type RunCredentialForm,
} from "../../identity/keys/derive-run-credential.ts";
import { hashKey, PREFIX_LENGTH } from "../../identity/keys/key-format.ts";
import { config } from "../../platform/config.ts";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { turnState } from "../../running-turn/state.ts";
import type { OnBusy } from "../contract.ts";

export interface Claim {
  readonly accountId: string;
  readonly sessionId: string;
  readonly chatId: string;
  readonly turnId: string;
  /** The id of the message to answer. */
  readonly messageId: string;
  readonly assistantMessageId: string;
  readonly title: string;
  readonly defaultModelId: string;
  readonly contextLimit: number | null;
  /** The message that it follows, empty for none; null for the newest that the chat shows. */
  readonly parentId: string | null;
  /** The answer that a new one is requested for, empty for any; null unless the request asks for another. */
  readonly replacesAnswer: string | null;
  /** The whole conversation when the client sent one, else null. */
  readonly history: readonly UIMessage[] | null;
  /** The stored parts of the answered message. */
  readonly parts: UIMessage["parts"];
  /** For the answer to a question: the parts that the assistant's message must still have. Else null. */
  readonly partsBefore: UIMessage["parts"] | null;
  readonly key: RunKey;
  /** The policy for the message while another turn is active. */
  readonly onBusy: OnBusy;
  readonly credential: RunCredentialForm;
  /** As `Engine.processId`. */
  readonly claimedBy: string | null;
  readonly callerKeyId: string | null;
  /** The tools that the client runs; null for none. */
  readonly clientTools: readonly ClientTool[] | null;
  /** The options for this turn only, as `optionsIn` returns them. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The stored form of a run's credential. */
export interface RunKey {
  readonly hash: string;
  readonly prefix: string;
  readonly name: string;
  readonly expiresAt: string;
}

/** A run's key is revoked when the run ends; this bounds the key of a run that never does. */
const RUN_KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Turns that may wait in a chat. */
const MAX_QUEUED = 10;

/** A turn loads all messages of its chat, and no model reads nearly as many. */
const MAX_CHAT_BYTES = 32 * 1024 * 1024;

/** Returns the stored form of the credential with which the turn's sandbox calls the API. */
export function runKey(turnId: string, form: RunCredentialForm): RunKey {
  const raw = deriveRunCredential(turnId, form);
  return {
    hash: hashKey(raw, config().API_KEY_SECRET),
    prefix: raw.slice(0, PREFIX_LENGTH),
    name: "run",
    expiresAt: new Date(Date.now() + RUN_KEY_LIFETIME_MS).toISOString(),
  };
}

const claimed = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("queued"),
    turn_id: z.string(),
    /** The turn that it waits for; absent for a turn that waited already. */
    active_turn_id: z.string().nullish(),
    run_id: z.string().nullish(),
    /** Whether the active turn is to be stopped. */
    interrupts: z.boolean().nullish(),
  }),
  z.object({
    outcome: z.literal("claimed"),
    /** Absent unless the claim asked for it. */
    turn: turnState.optional(),
  }),
  z.object({
    outcome: z.literal("answered"),
    /** The turn that answered; null for an answer that the client has stored, and of an old turn. */
    turn_id: z.string().nullable(),
    run_id: z.string().nullable(),
    /** The stored answer. */
    message_id: z.string(),
  }),
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
      "budget_reached",
      "id_taken",
      "content_differs",
      "options_differ",
      "answer_stale",
      "parent_missing",
      "parent_differs",
      "queue_full",
      "waiting",
      "messages_full",
      "chat_full",
    ]),
  }),
]);
export type ClaimOutcome = z.output<typeof claimed>;

/**
 * Claims the chat, or queues the turn while the chat is busy, as its `onBusy` says. The account may not
 * have spent its budget, have `ACCOUNT_ACTIVE_TURNS` active turns already, or keep more than
 * `ACCOUNT_MESSAGE_BYTES` of messages.
 * @param withTurn whether to return the claimed turn
 */
function claimTurn(db: Database, claim: Claim, withTurn: boolean): Promise<ClaimOutcome> {
  return call(
    db,
    "claim_turn",
    {
      claim: {
        account_id: claim.accountId,
        session_id: claim.sessionId,
        chat_id: claim.chatId,
        turn_id: claim.turnId,
        message_id: claim.messageId,
        parts: claim.parts,
        parts_before: claim.partsBefore,
        parent_id: claim.parentId,
        replaces_answer: claim.replacesAnswer,
        assistant_message_id: claim.assistantMessageId,
        title: claim.title,
        default_model_id: claim.defaultModelId,
        context_limit: claim.contextLimit,
        history: claim.history,
        key_hash: claim.key.hash,
        key_prefix: claim.key.prefix,
        key_name: claim.key.name,
        key_expires_at: claim.key.expiresAt,
        caller_key_id: claim.callerKeyId,
        credential: claim.credential,
        claimed_by: claim.claimedBy,
        // As text, because models write the fields in the order of the schema.
        client_tools: claim.clientTools && JSON.stringify(claim.clientTools),
        options: claim.options,
      },
      onBusy: claim.onBusy,
      maxActive: config().ACCOUNT_ACTIVE_TURNS,
      maxQueued: MAX_QUEUED,
      maxAccountBytes: config().ACCOUNT_MESSAGE_BYTES,
      maxChatBytes: MAX_CHAT_BYTES,
      withTurn,
    },
    claimed,
  );
}

/** A claim may stand although its answer was lost: then it is released, because its run is never started. */
export async function claimOrRelease(
  db: Database,
  claim: Claim,
  withTurn: boolean,
): Promise<ClaimOutcome> {
  try {
    return await claimTurn(db, claim, withTurn);
  } catch (error) {
    // If this fails as well, the claim expires after a minute.
    await abandonTurn(db, claim.turnId).catch(() => {});
    throw error;
  }
}

/** Releases the claim of a turn whose run could not be started. */
export async function abandonTurn(db: Database, turnId: string): Promise<void> {
  await call(db, "abandon_turn", { turnId }, z.unknown());
}

const found = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.enum(["chat_missing", "idle"]) }),
  z.object({
    outcome: z.literal("active"),
    turn_id: z.string(),
    run_id: z.string().nullable(),
  }),
]);

export function findActiveTurn(db: Database, accountId: string, chatId: string) {
  return call(db, "find_active_turn", { accountId, chatId }, found);
}

/** Records a stop request for the chat's active turn, if there is one, and drops what waits for it. */
export function requestStop(db: Database, accountId: string, chatId: string) {
  return call(db, "request_stop", { accountId, chatId }, found);
}

/** Records a stop request for every active turn of the session, and returns their ids. */
export function requestSessionStop(db: Database, sessionId: string): Promise<string[]> {
  return call(db, "request_session_stop", { sessionId });
}

/** Returns the parts of an assistant message in the account's chat, or null. */
export function assistantParts(
  db: Database,
  accountId: string,
  chatId: string,
  messageId: string,
): Promise<UIMessage["parts"] | null> {
  return call(
    db,
    "assistant_parts",
    { accountId, chatId, messageId },
    // Only this service writes messages, so their parts are not validated again.
    z.custom<UIMessage["parts"]>(Array.isArray).nullable(),
  );
}
