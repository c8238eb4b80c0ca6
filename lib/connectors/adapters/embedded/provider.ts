/** Connections kept in the project's own database; a page of this service asks for consent. */
import { createHash, randomBytes } from "node:crypto";
import type { ConnectorProvider } from "../../port.ts";
import { insertConnection, selectConnections } from "../../store.ts";
import { connectorName } from "./connector-names.ts";

/** @param origin under which a person's browser reaches this service */
export function createEmbeddedConnectors(origin: string): ConnectorProvider {
  return {
    name: "embedded",

    async authorize({ accountId, connector, callbackUrl }) {
      if (connectorName(connector) === undefined) {
        return { kind: "unknown", cause: `${connector} is not in the embedded list` };
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

/** All that is stored of a link's secret; 32 random bytes need no key. */
export function hashState(state: string): string {
  return createHash("sha256").update(state).digest("hex");
}
