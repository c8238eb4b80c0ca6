/**
 * The connections of the embedded provider (supabase/migrations/…_connectors.sql).
 * @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { db } from "../platform/database/client.ts";
import { timestamp } from "../platform/database/columns.ts";
import { call, parseAnswer } from "../platform/database/query.ts";
import type { Connection } from "./contract.ts";

const MAX_CONNECTIONS = 200;

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

export async function insertConnection(connection: {
  readonly accountId: string;
  readonly connector: string;
  readonly stateHash: string;
  readonly callbackUrl: string;
}): Promise<void> {
  const args = {
    p_account_id: connection.accountId,
    p_connector: connection.connector,
    p_state_hash: connection.stateHash,
    p_callback_url: connection.callbackUrl,
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
    .limit(MAX_CONNECTIONS);
  const now = new Date().toISOString();
  return parseAnswer("list connections", answer, z.array(row)).map((one) => ({
    id: one.id,
    connector: one.connector,
    status: one.status === "pending" && one.expires_at <= now ? "expired" : one.status,
    createdAt: one.created_at,
    updatedAt: one.updated_at,
  }));
}

/** Returns null for a link that has been used, has expired or never existed. */
export async function selectPending(stateHash: string): Promise<z.output<typeof pending> | null> {
  return call("pending_connection", { p_state_hash: stateHash }, pending.nullable());
}

/** Returns null for every request except the one that decides. */
export async function decideConnection(
  stateHash: string,
  allowed: boolean,
): Promise<z.output<typeof decided> | null> {
  const args = { p_state_hash: stateHash, p_allowed: allowed };
  return call("decide_connection", args, decided.nullable());
}
