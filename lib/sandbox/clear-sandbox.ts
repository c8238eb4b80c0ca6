import type { Logger } from "pino";
import { services } from "../platform/services.ts";
import { destroySandbox } from "./destroy-sandbox.ts";

/**
 * Destroys a sandbox whose state was not stored, because its provisioning did not finish. Its name
 * is the session's id. Never throws; a failure is logged.
 */
export async function clearSandbox(sessionId: string, log: Logger): Promise<void> {
  try {
    const { name: provider } = services().sandboxes;
    const placeholders = { createdAt: new Date().toISOString(), expiresAt: null, readyMs: 0 };
    await destroySandbox({ provider, name: sessionId, ...placeholders }, log);
  } catch (error) {
    log.error({ err: error, sandbox: sessionId }, "the sandbox could not be removed");
  }
}
