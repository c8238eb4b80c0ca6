import { processWide } from "@platform/kit/process-wide";
import type { App } from "../parts.ts";

/**
 * Returns the parts of this process, which `startApp` (lib/app.ts) has created before the first request. Only
 * code that the framework calls obtains them so, and passes each function the parts that it needs.
 */
export function currentApp(): App {
  return processWide<App>("app", () => {
    throw new Error("The app is not started");
  });
}
