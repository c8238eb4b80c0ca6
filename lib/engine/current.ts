/** Which durable engine this server uses: PostgreSQL when there is one to reach, else Vercel's. */
import { config } from "../platform/config.ts";
import { localOrigin } from "../platform/local-origin.ts";
import { log } from "../platform/log.ts";
import { PostgresEngine } from "./adapters/postgres/engine.ts";
import { VercelEngine } from "./adapters/vercel/engine.ts";
import type { Engine } from "./port.ts";

declare global {
  // The SDK bundles steps apart from routes: only globalThis is common to both.
  var agentPlatformEngine: Engine | undefined;
}

export function engine(): Engine {
  globalThis.agentPlatformEngine ??= createEngine();
  return globalThis.agentPlatformEngine;
}

function createEngine(): Engine {
  const { DATABASE_URL, NODE_ENV, HOST, PORT } = config();
  if (!DATABASE_URL) return new VercelEngine();
  return new PostgresEngine({
    databaseUrl: DATABASE_URL,
    selfOrigin: localOrigin(HOST, PORT),
    reloadHandlers: NODE_ENV === "development",
    onError: (error, runId) => log().error({ err: error, runId }, "durable engine"),
  });
}
