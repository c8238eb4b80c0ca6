/** Connections in the project's own database. A page of this service asks for consent. */
import { createHash, randomBytes } from "node:crypto";
import type { ConnectorAction } from "../../contract.ts";
import type { ConnectorFault, ConnectorProvider } from "../../port.ts";
import { deleteConnections, insertConnection, selectConnections } from "../../store.ts";

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
export function createEmbeddedConnectors(origin: string): ConnectorProvider {
  return {
    name: "embedded",

    async authorize({ accountId, starter, connector, callbackUrl }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      const state = randomBytes(32).toString("base64url");
      const stateHash = hashState(state);
      await insertConnection({ accountId, starter, connector, stateHash, callbackUrl });
      return { kind: "started", url: `${origin}/connectors/consent?state=${state}` };
    },

    async list(accountId) {
      return { kind: "listed", connections: await selectConnections(accountId) };
    },

    async disconnect({ accountId, connector }) {
      return { kind: "disconnected", count: await deleteConnections(accountId, connector) };
    },

    async listActions({ connector }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      return { kind: "actions", actions: [describeConnection], nextCursor: null };
    },

    async runAction({ accountId, connector, action }) {
      if (connectorName(connector) === undefined) return unknown(connector);
      if (action !== describeConnection.name) {
        return { kind: "unknown_action", cause: `${action} is not an embedded action` };
      }
      const connections = await selectConnections(accountId);
      const active = connections.find(
        (one) => one.connector === connector && one.status === "active",
      );
      if (!active) return { kind: "not_connected", cause: `${connector} is not connected` };
      const output = { id: active.id, connector, connectedAt: active.updatedAt };
      return { kind: "ran", result: { successful: true, output, error: null } };
    },
  };
}

/** The one action of a connection that has no service behind it. */
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
