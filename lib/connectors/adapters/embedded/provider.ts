/** Connections in the project's own database. A page of this service asks for consent. */
import { createHash, randomBytes } from "node:crypto";
import type { ConnectorProvider } from "../../port.ts";
import { insertConnection, selectConnections } from "../../store.ts";
import { connectorName } from "./connector-names.ts";

/** @param origin under which browsers reach this service */
export function createEmbeddedConnectors(origin: string): ConnectorProvider {
  return {
    name: "embedded",

    async authorize({ accountId, connector, callbackUrl }) {
      if (connectorName(connector) === undefined) {
        return { kind: "unknown", cause: `${connector} is not an embedded connector` };
      }
      const state = randomBytes(32).toString("base64url");
      await insertConnection({ accountId, connector, stateHash: hashState(state), callbackUrl });
      return { kind: "started", url: `${origin}/connectors/consent?state=${state}` };
    },

    async list(accountId) {
      return { kind: "listed", connections: await selectConnections(accountId) };
    },
  };
}

/** Hashes the secret of a consent link for storage. 32 random bytes need no key. */
export function hashState(state: string): string {
  return createHash("sha256").update(state).digest("hex");
}
