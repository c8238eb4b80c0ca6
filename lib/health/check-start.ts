import { config } from "../platform/config.ts";
import { isolation } from "../platform/isolation/detect.ts";
import { log } from "../platform/log.ts";
import { services } from "../platform/services.ts";
import { refuse } from "./check-settings.ts";
import { diagnose } from "./diagnose/diagnose.ts";

/** A vendor that is slower counts as one that does not answer. */
const TIMEOUT_MS = 5_000;

/**
 * Checks the installation before the server serves, and logs each finding with its remedy.
 *
 * On Vercel it asks only the database, because each cold start would wait for the other services.
 *
 * @throws Error when the settings cannot work: the server would serve half-configured
 */
export async function checkStart(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = config();
  // Detected here, so no request waits for it. On Vercel nothing is started on the machine.
  if (!settings.VERCEL) isolation();
  if (!settings.CHECK_START) return;
  const found = await diagnose(
    { env, settings, services: services() },
    { timeoutMs: TIMEOUT_MS, asksServices: !settings.VERCEL },
  );
  for (const { status, detail, blocksStart, ...about } of found) {
    if (status === "ok") log().debug(about, detail);
    else log()[blocksStart ? "error" : "warn"](about, detail);
  }
  refuse(found);
}
