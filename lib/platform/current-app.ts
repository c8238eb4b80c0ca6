import { processWide } from "@platform/kit/process-wide";
import type { App } from "../parts.ts";
import { config } from "./config.ts";
import type { Database } from "./database/port.ts";
import { createDatabase } from "./database/query.ts";

/**
 * Returns the parts of this process, which `startApp` (lib/app.ts) has created before the first request. Only
 * code that the framework calls obtains them so, and passes each function the parts that it needs.
 */
export function currentApp(): App {
  return processWide<App>("app", () => {
    throw new Error("The app is not started");
  });
}

/** Returns the database of this process, also where the app is not started, as in the proxy of the pages. */
export const currentDatabase = (): Database =>
  processWide("database", () => createDatabase(config()));
