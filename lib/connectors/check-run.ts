import { type AppError, appError } from "../contract/app-error.ts";
import type { Caller } from "../identity/credentials/caller.ts";
import { hasChatConnector } from "./store.ts";

/**
 * Refuses the credential of a run for a connector that was not named for its chat. Injected text can make
 * an agent do anything, so it can reach a connection only if a person has allowed it. Errors: forbidden.
 */
export async function checkRun(
  { ownerId, credential }: Caller,
  connector: string,
): Promise<AppError | undefined> {
  if (credential.kind !== "run") return undefined;
  const isNamed = await hasChatConnector(ownerId, credential.run.chatId, connector);
  return isNamed ? undefined : appError("forbidden", "This credential cannot be used here");
}
