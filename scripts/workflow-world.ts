/**
 * The module that `WORKFLOW_TARGET_WORLD` names to make the Workflow SDK's tools and servers use the
 * PostgreSQL World: docs/deploy.md says how. Without `DATABASE_URL` it takes the embedded database of the
 * service that is running.
 */
import { PostgresWorld } from "../packages/world-postgres/src/postgres-world.ts";
import { dataDirOf } from "./data-dir.ts";
import { findRunning } from "./embedded/find-running.ts";

let opened: PostgresWorld["world"] | undefined;

/**
 * Returns the World of this process, which executes runs once it is started.
 * @throws Error when no database is named and none is running.
 */
export default function openWorld(): PostgresWorld["world"] {
  opened ??= PostgresWorld.open(databaseUrl(process.env), (error, runId) =>
    console.error("durable engine", runId ?? "", error),
  ).world;
  return opened;
}

function databaseUrl(env: NodeJS.ProcessEnv): string {
  const url = env.DATABASE_URL || findRunning(dataDirOf(env));
  if (!url) throw new Error("Set DATABASE_URL, or start the service: no database is running.");
  return url;
}
