/** The connections that the embedded provider keeps. */
import { z } from "zod";
import { db } from "../platform/database/client.ts";
import { timestamp } from "../platform/database/columns.ts";
import { call, parseAnswer } from "../platform/database/query.ts";
import type { Connection } from "./contract.ts";

/** Connections shown of one account. */
const MOST = 200;

const row = z.object({
  id: z.string(),
  connector: z.string(),
  status: z.enum(["pending", "active", "failed"]),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: timestamp,
});
const decided = z.object({ connector: z.string(), callback_url: z.string() });
const pending = decided.extend({ account: z.string() });

export async function insertConnection(made: {
  readonly accountId: string;
  readonly connector: string;
  readonly stateHash: string;
  readonly callbackUrl: string;
}): Promise<void> {
  const args = {
    p_account_id: made.accountId,
    p_connector: made.connector,
    p_state_hash: made.stateHash,
    p_callback_url: made.callbackUrl,
  };
  await call("start_connection", args, z.string());
}

export async function selectConnections(accountId: string): Promise<Connection[]> {
  const answer = await db()
    .from("connections")
    .select("id, connector, status, created_at, updated_at, expires_at")
    .eq("account_id", accountId)
    .order("created_at", { ascending: false })
    .order("id")
    .limit(MOST);
  const now = new Date().toISOString();
  return parseAnswer("list connections", answer, z.array(row)).map((one) => ({
    id: one.id,
    connector: one.connector,
    status: one.status === "pending" && one.expires_at <= now ? "expired" : one.status,
    createdAt: one.created_at,
    updatedAt: one.updated_at,
  }));
}

/** Null when the link has been decided, has expired or never was. */
export async function selectPending(stateHash: string): Promise<z.output<typeof pending> | null> {
  return call("pending_connection", { p_state_hash: stateHash }, pending.nullable());
}

/** Null for every request but the one that decides. */
export async function decideConnection(
  stateHash: string,
  allowed: boolean,
): Promise<z.output<typeof decided> | null> {
  const args = { p_state_hash: stateHash, p_allowed: allowed };
  return call("decide_connection", args, decided.nullable());
}
