/** Selects the database of a process by its settings. */
import { log } from "@platform/kit/log";
import { processWide } from "@platform/kit/process-wide";
import { type Config, config, poolSize } from "../config.ts";
import type { Database } from "./port.ts";
import { PostgresDatabase } from "./postgres.ts";
import { failure } from "./query.ts";
import { createRestDatabase } from "./rest.ts";
import { isUnavailable } from "./unavailable.ts";

/** A call takes about a millisecond. */
const MIN_CONNECTIONS = 2;

/** Returns the database of a process, which its first call selects, because it may be unavailable before. */
export function createDatabase(settings: Config): Database {
  let selected: Promise<Database> | undefined;
  const select = () => {
    selected ??= selectDatabase(settings).catch((error: unknown) => {
      selected = undefined;
      throw error;
    });
    return selected;
  };
  return {
    call: async (name, args) => (await select()).call(name, args),
    close: async () => (await selected)?.close(),
  };
}

/**
 * Selects `postgres` if `DATABASE_URL` leads to the database behind `SUPABASE_URL` with a login that may
 * act as the service role, because the durable engine may have a separate database or login. On Vercel an
 * integration may have set it, and each of many instances would open connections.
 */
async function selectDatabase(settings: Config): Promise<Database> {
  const { DATABASE_URL, DIRECT_DATABASE_URL, SUPABASE_URL, SUPABASE_SECRET_KEY, VERCEL } = settings;
  const rest = createRestDatabase(SUPABASE_URL, SUPABASE_SECRET_KEY);
  if (!DATABASE_URL || VERCEL) return rest;
  const keepsSession = DIRECT_DATABASE_URL === undefined;
  const size = poolSize(settings, MIN_CONNECTIONS);
  const postgres = new PostgresDatabase(DATABASE_URL, size, keepsSession);
  const [direct, overRest] = await Promise.all([
    postgres.call("installation_id", {}),
    rest.call("installation_id", {}),
  ]);
  if (!direct.error && !overRest.error && direct.data === overRest.data) return postgres;
  await postgres.close();
  const outage = [direct, overRest].find(isUnavailable);
  if (outage) throw failure("installation_id", outage);
  log().info("SQL functions are called over REST: DATABASE_URL does not lead to them");
  return rest;
}

/** Returns the database of this process, even without an app, such as in the proxy of the pages. */
export const currentDatabase = (): Database =>
  processWide("database", () => createDatabase(config()));
