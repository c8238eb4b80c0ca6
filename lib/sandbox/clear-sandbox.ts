import type { Logger } from "pino";
import { services } from "../platform/services.ts";
import { destroySandbox } from "./destroy-sandbox.ts";

/**
 * Removes what an unfinished provisioning may have left of a session's sandbox, of which no state
 * was stored: the provider names a sandbox after its session. Never throws; what is left is logged.
 */
export async function clearSandbox(sessionId: string, log: Logger): Promise<void> {
  try {
    const { name: provider } = services().sandboxes;
    const unknown = { createdAt: new Date().toISOString(), expiresAt: null, readyMs: 0 };
    await destroySandbox({ provider, name: sessionId, ...unknown }, log);
  } catch (error) {
    log.error({ err: error, sandbox: sessionId }, "the sandbox could not be removed");
  }
}
