/**
 * A World of the Workflow SDK on PostgreSQL. `WORKFLOW_TARGET_WORLD=agent-platform-world-postgres` selects it,
 * and `DATABASE_URL` names the database, which has the tables of `schema.sql`.
 */
import { PostgresWorld } from "./postgres-world.ts";

export { ChunkLog } from "./chunk-log.ts";
export type { Measurements } from "./measurements.ts";
export { PostgresWorld, type PostgresWorldOptions } from "./postgres-world.ts";
export { sweepEngine } from "./retention.ts";

let opened: PostgresWorld["world"] | undefined;

/**
 * Returns the World of this process, which executes runs once its `start` is called.
 * @throws Error when `DATABASE_URL` is not set
 */
export default function createWorld(): PostgresWorld["world"] {
  const databaseUrl = process.env.DATABASE_URL;
  if (!databaseUrl)
    throw new Error("Set DATABASE_URL to the database that has the engine's tables.");
  opened ??= PostgresWorld.open(databaseUrl, (error, runId) =>
    console.error("durable engine", runId ?? "", error),
  ).world;
  return opened;
}
