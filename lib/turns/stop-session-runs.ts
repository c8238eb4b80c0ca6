import { services } from "../platform/services.ts";
import { requestSessionStop } from "./claim-store.ts";

/** Ends every run of a session, before its sandbox or the session itself goes. */
export async function stopSessionRuns(sessionId: string): Promise<void> {
  for (const turnId of await requestSessionStop(sessionId))
    await services().engine.signalStop(turnId);
}
