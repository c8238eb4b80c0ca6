/**
 * The connections of the embedded provider, and the connectors that are named for chats.
 * @throws DatabaseUnavailable from every function here.
 */

import type { AppError } from "@platform/endpoint/contract/app-error";
import {
  type ChatAddress,
  chatArguments,
  chatErrors,
} from "@platform/endpoint/contract/chat-address";
import { dateTime } from "@platform/endpoint/contract/fields";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type Connection, connection, MAX_EVENTS_PER_HOUR, MAX_SUBSCRIBERS } from "./contract.ts";
import type { ConnectionStarter } from "./port.ts";

const MAX_CONNECTIONS = 200;
/** Of a vendor, which may have to be asked for each. */
const MAX_RECORDED = 100;
/** Longer than the calls of a provider take that make a subscription, or end unused ones. */
const CHECK_LEASE_SECONDS = 60;

const row = rowOf(connection.extend({ expiresAt: dateTime }));
const decided = z.object({ connector: z.string(), callback_url: z.string() });
const starterArguments = ({ accountId, keyId }: ConnectionStarter) => ({
  startedBy: accountId,
  keyId,
});
const pending = decided.extend({ account: z.string(), address: z.string() });

export async function insertConnection(
  db: Database,
  connection: {
    readonly accountId: string;
    readonly starter: ConnectionStarter;
    readonly connector: string;
    readonly stateHash: string;
    readonly callbackUrl: string;
  },
): Promise<void> {
  const args = {
    accountId: connection.accountId,
    connector: connection.connector,
    stateHash: connection.stateHash,
    callbackUrl: connection.callbackUrl,
    ...starterArguments(connection.starter),
  };
  await call(db, "start_connection", args, z.string());
}

/** Records the starter of a connection at a vendor. */
export async function recordLink(
  db: Database,
  accountId: string,
  connectionId: string,
  starter: ConnectionStarter,
): Promise<void> {
  const args = { accountId, connectionId };
  await call(db, "record_connector_link", { ...args, ...starterArguments(starter) });
}

/** Returns the ids of the account's connections at a vendor: the ones seen active first, then the newest. */
export const recordedConnections = (db: Database, accountId: string): Promise<string[]> => {
  return call(db, "recorded_connections", { accountId, limit: MAX_RECORDED });
};

type AtVendor = readonly { readonly id: string }[];
const idsOf = (connections: AtVendor) => connections.map(({ id }) => id);

/** Records the found connections, and returns the active ones that were completed without the right to do so. */
export const refusedConnections = (
  db: Database,
  accountId: string,
  active: AtVendor,
  found: AtVendor,
): Promise<string[]> => {
  const args = { accountId, activeIds: idsOf(active), foundIds: idsOf(found) };
  return call(db, "refused_connections", args);
};

/** Forgets connections that a vendor no longer has, and that were recorded so long ago. */
export async function forgetConnections(
  db: Database,
  accountId: string,
  gone: AtVendor,
  minAgeSeconds: number,
): Promise<void> {
  if (gone.length === 0) return;
  const args = { accountId, connectionIds: idsOf(gone) };
  await call(db, "forget_connections", { ...args, minAgeSeconds });
}

export async function selectConnections(db: Database, accountId: string): Promise<Connection[]> {
  const args = { accountId, limit: MAX_CONNECTIONS };
  const connections = await call(db, "list_connections", args, z.array(row));
  const now = new Date().toISOString();
  return connections.map(({ expiresAt, ...one }) =>
    one.status === "pending" && expiresAt <= now ? { ...one, status: "expired" } : one,
  );
}

/** Returns how many there were. */
export const deleteConnections = (
  db: Database,
  accountId: string,
  connector: string,
): Promise<number> => call(db, "remove_connections", { accountId, connector });

/** Returns null for a link that has been used, has expired, never existed, or whose starter has lost the right. */
export async function selectPending(
  db: Database,
  stateHash: string,
): Promise<z.output<typeof pending> | null> {
  return call(db, "pending_connection", { stateHash }, pending.nullable());
}

/** Returns null for every request except the one that decides, and for a link that `selectPending` refuses. */
export async function decideConnection(
  db: Database,
  stateHash: string,
  allowed: boolean,
): Promise<z.output<typeof decided> | null> {
  return call(db, "decide_connection", { stateHash, allowed }, decided.nullable());
}

/** The turns of this chat get the connectors. Errors: 404 for the session or the chat. */
export const setChatConnectors = (
  db: Database,
  address: ChatAddress,
  connectors: readonly string[],
): Promise<{ readonly connectors: string[] } | AppError> =>
  call(
    db,
    "set_chat_connectors",
    { ...chatArguments(address), connectors },
    z.union([chosen, missing]),
  );

/** Returns the connectors that are selected for the chat. Errors: 404 for the session or the chat. */
export const selectChatConnectors = (
  db: Database,
  address: ChatAddress,
): Promise<{ readonly connectors: string[] } | AppError> =>
  call(db, "get_chat_connectors", chatArguments(address), z.union([chosen, missing]));

const chosen = z.object({ connectors: z.array(z.string()) });
const missing = refusalOf(chatErrors, "missing");

/** Returns whether the account has named the connector for the chat. */
export const hasChatConnector = (
  db: Database,
  accountId: string,
  chatId: string,
  connector: string,
): Promise<boolean> => call(db, "has_chat_connector", { accountId, chatId, connector });

export const deleteConnectorTriggers = async (
  db: Database,
  accountId: string,
  connector: string,
): Promise<void> => void (await call(db, "delete_connector_triggers", { accountId, connector }));

/** Sends an event to the triggers of a subscription, and returns how many have accepted it. */
export const sendTestEvent = (
  db: Database,
  accountId: string,
  sourceId: string,
  content: string,
): Promise<number> => {
  const args = { accountId, sourceId, content };
  const limits = { maxTriggers: MAX_SUBSCRIBERS, maxPerHour: MAX_EVENTS_PER_HOUR };
  return call(db, "send_test_event", { ...args, ...limits });
};

const eventCheck = z.object({
  changedAt: z.string(),
  leaseUntil: z.string(),
  sourceIds: z.array(z.string()),
});
type EventCheck = z.output<typeof eventCheck>;

/** Leases the comparison of an account's subscriptions with its triggers. Returns null where none is due. */
export const takeEventCheck = (db: Database, accountId: string): Promise<EventCheck | null> =>
  call(
    db,
    "take_event_check",
    { accountId, leaseSeconds: CHECK_LEASE_SECONDS },
    eventCheck.nullable(),
  );

/** @param isDone false to leave it to the retention job */
export const endEventCheck = async (
  db: Database,
  accountId: string,
  { changedAt, leaseUntil }: EventCheck,
  isDone: boolean,
): Promise<void> => {
  const args = { accountId, leaseUntil };
  await call(db, "end_event_check", { ...args, changedAt: isDone ? changedAt : null });
};

/** Returns accounts whose comparison is due, the longest waiting first. */
export const dueEventChecks = (db: Database, batch: number): Promise<string[]> =>
  call(db, "due_event_checks", { batch });
