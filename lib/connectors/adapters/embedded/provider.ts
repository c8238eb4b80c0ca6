/** Connections in the project's own database. A page of this service asks for consent. */

import { createHash, randomBytes } from "node:crypto";
import type { Database } from "../../../platform/database/port.ts";
import type { Connection, ConnectorAction, ConnectorEvent } from "../../contract.ts";
import type { ConnectorFault, ConnectorProvider } from "../../port.ts";
import {
  deleteConnections,
  insertConnection,
  selectConnections,
  sendTestEvent,
} from "../../store.ts";

/** The connectors of the embedded provider: Composio's slugs with display names. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["airtable", "Airtable"],
  ["discord", "Discord"],
  ["dropbox", "Dropbox"],
  ["github", "GitHub"],
  ["gmail", "Gmail"],
  ["googlecalendar", "Google Calendar"],
  ["googledocs", "Google Docs"],
  ["googledrive", "Google Drive"],
  ["googlesheets", "Google Sheets"],
  ["hubspot", "HubSpot"],
  ["instagram", "Instagram"],
  ["linkedin", "LinkedIn"],
  ["mailchimp", "Mailchimp"],
  ["notion", "Notion"],
  ["outlook", "Outlook"],
  ["slack", "Slack"],
  ["soundcloud", "SoundCloud"],
  ["tiktok", "TikTok"],
  ["twitter", "X"],
  ["youtube", "YouTube"],
]);

/** Returns the display name of a connector; undefined for an unknown one. */
export function connectorName(slug: string): string | undefined {
  return NAMES.get(slug);
}

/** @param origin under which browsers reach this service */
export function createEmbeddedConnectors(db: Database, origin: string): ConnectorProvider {
  return {
    name: "embedded",
    receivesEvents: true,

    async authorize({ accountId, starter, connector, callbackUrl }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      const state = randomBytes(32).toString("base64url");
      const stateHash = hashState(state);
      await insertConnection(db, { accountId, starter, connector, stateHash, callbackUrl });
      return { kind: "started", url: `${origin}/connectors/consent?state=${state}` };
    },

    async list(accountId) {
      return { kind: "listed", connections: await selectConnections(db, accountId) };
    },

    async disconnect({ accountId, connector }) {
      return { kind: "disconnected", count: await deleteConnections(db, accountId, connector) };
    },

    async listActions({ connector, limit, cursor = "0" }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      const actions = [describeConnection, sendEvent];
      const end = Number(cursor) + limit;
      const nextCursor = end < actions.length ? String(end) : null;
      return { kind: "actions", actions: actions.slice(Number(cursor), end), nextCursor };
    },

    async describeAction({ connector, action }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      if (action !== describeConnection.name && action !== sendEvent.name) {
        return { kind: "unknown_action", cause: `${action} is not an embedded action` };
      }
      return { kind: "action", isDestructive: false };
    },

    async listEvents({ connector }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      return { kind: "events", events: [testEvent], nextCursor: null };
    },

    async subscribe({ accountId, connector, event, config }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      const active = await activeConnection(db, accountId, connector);
      if ("cause" in active) return active;
      if (event !== testEvent.name) {
        return { kind: "unknown_event", cause: `${event} is not an embedded event` };
      }
      if (Object.keys(config).length > 0) {
        return { kind: "refused_config", cause: "a config", message: "it has no fields" };
      }
      return { kind: "subscribed", id: sourceOf(connector) };
    },

    async unsubscribe() {
      return { kind: "unsubscribed" };
    },

    async runAction({ accountId, connector, action, input }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      if (action !== describeConnection.name && action !== sendEvent.name) {
        return { kind: "unknown_action", cause: `${action} is not an embedded action` };
      }
      const active = await activeConnection(db, accountId, connector);
      if ("cause" in active) return active;
      let output: object = { id: active.id, connector, connectedAt: active.updatedAt };
      if (action === sendEvent.name) {
        const content = JSON.stringify({ type: testEvent.name, connector, data: input });
        output = { triggers: await sendTestEvent(db, accountId, sourceOf(connector), content) };
      }
      return { kind: "ran", result: { successful: true, output, error: null } };
    },
  };
}

async function activeConnection(
  db: Database,
  accountId: string,
  connector: string,
): Promise<Connection | ConnectorFault> {
  const connections = await selectConnections(db, accountId);
  const active = connections.find((one) => one.connector === connector && one.status === "active");
  return active ?? { kind: "not_connected", cause: `${connector} is not connected` };
}

/** A subscription is a row of the trigger alone. */
const sourceOf = (connector: string) => `embedded:${connector}`;

/** The one event of a connection that has no service behind it, and the action that sends it. */
const testEvent: ConnectorEvent = {
  name: "TEST_EVENT",
  title: "Test event",
  description: "The action SEND_TEST_EVENT was run.",
  configSchema: { type: "object", properties: {}, additionalProperties: false },
};
const sendEvent: ConnectorAction = {
  name: "SEND_TEST_EVENT",
  description:
    "Sends TEST_EVENT with the input as its data to the account's triggers. Their runs start within seconds.",
  inputSchema: { type: "object", properties: {} },
};

const describeConnection: ConnectorAction = {
  name: "DESCRIBE_CONNECTION",
  description: "Tells which connection of the account is in use, and since when.",
  inputSchema: { type: "object", properties: {} },
};

const unknown = (connector: string): ConnectorFault => ({
  kind: "unknown",
  cause: `${connector} is not an embedded connector`,
});

/** Hashes the secret of a consent link for storage. 32 random bytes need no key. */
export function hashState(state: string): string {
  return createHash("sha256").update(state).digest("hex");
}
