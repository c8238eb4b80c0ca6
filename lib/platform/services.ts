import type { App } from "../app.ts";
import { processWide } from "./process-wide.ts";

/** Returns the adapters of this process. `startApp` (lib/app.ts) has created them before the first request. */
export function services(): App {
  return processWide<App>("services", () => {
    throw new Error("The services are not started");
  });
}
