import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Logger } from "pino";
import { setChatConnectors } from "../connectors/store.ts";
import type { Caller } from "../identity/credentials/caller.ts";
import { checkModel } from "../models/list-models.ts";
import type { Parts } from "../parts.ts";
import { provisionSandbox } from "../sandbox/provision-sandbox.ts";
import type { NewSession } from "./contract.ts";
import type { Chat, Session } from "./session.ts";
import { insertSession } from "./store.ts";

/**
 * Creates a session and its first chat, and its sandbox if that is asked for. The pipeline has checked the access to
 * artist and organization. Errors: 400 for an unknown model.
 */
export async function createSession(
  app: Parts<"db" | "models" | "sandboxes">,
  { accountId }: Pick<Caller, "accountId">,
  { modelId, connectors, sandbox, title, artistId, organization_id, ...options }: NewSession,
  log: Logger,
): Promise<{ session: Session; chat: Chat } | AppError> {
  const fault = await checkModel(app, modelId);
  if (fault) return fault;
  const values = { title, artistId, organization_id, options };
  const created = await insertSession(
    app.db,
    accountId,
    values,
    modelId ?? app.models.defaultModelId,
  );
  const { session, chat } = created;
  if (connectors?.length) {
    await setChatConnectors(
      app.db,
      { accountId, sessionId: session.id, chatId: chat.id },
      connectors,
    );
  }
  if (!sandbox) return created;
  const provisioned = await provisionSandbox(app, { accountId, sessionId: session.id, log });
  return isAppError(provisioned)
    ? created
    : { session: { ...session, sandboxState: "active" }, chat };
}
