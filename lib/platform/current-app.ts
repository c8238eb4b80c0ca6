import type { App } from "../parts.ts";
import { processWide } from "./process-wide.ts";

/**
 * Returns the parts of this process, which `startApp` (lib/app.ts) has created before the first request. Only
 * code that the framework calls obtains them so, and passes each function the parts that it needs.
 */
export function currentApp(): App {
  return processWide<App>("app", () => {
    throw new Error("The app is not started");
  });
}
