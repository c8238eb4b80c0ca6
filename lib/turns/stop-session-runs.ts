import { services } from "../platform/services.ts";
import { requestSessionStop } from "./store/claims.ts";

/** Stops every run of a session before the session or its sandbox is deleted. */
export async function stopSessionRuns(sessionId: string): Promise<void> {
  for (const turnId of await requestSessionStop(sessionId)) {
    await services().engine.signalStop(turnId);
  }
}
