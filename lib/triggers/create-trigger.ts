import { randomUUID } from "node:crypto";
import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import type { Logger } from "pino";
import { askProvider, endUnusedSubscriptions } from "../connectors/use-connectors.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { isSecretOf, newSecret, storedSecret } from "./authenticate-event.ts";
import type {
  ConnectorTrigger,
  NewConnector,
  NewTrigger,
  NewWebhook,
  Signature,
  WebhookTrigger,
} from "./contract.ts";
import {
  beginConnectorTrigger,
  confirmConnectorTrigger,
  insertTrigger,
  removeTrigger,
  type TriggerPath,
} from "./store.ts";

type Created = (WebhookTrigger & { readonly secret: string }) | ConnectorTrigger;

/** Creates a trigger, and returns it; a `webhook` with its secret. Errors: the errors of its kind. */
export const createTrigger = (
  app: Parts<"db" | "connectors">,
  accountId: string,
  taskId: string,
  values: NewTrigger,
  log: Logger,
): Promise<Created | AppError> =>
  values.kind === "webhook"
    ? createWebhook(app.db, accountId, taskId, values)
    : createConnectorTrigger(app, accountId, taskId, values, log);

/**
 * Creates a trigger and subscribes to its event. Should the process die on the way, the trigger is not listed, and the
 * retention job ends the subscription. Errors: 400 for a config that the provider refuses, 403 when the task has 10
 * triggers, 404 for the task or the event, 409 without an active connection, 502, 503, 504.
 */
async function createConnectorTrigger(
  app: Parts<"db" | "connectors">,
  accountId: string,
  taskId: string,
  { connector, event, config }: NewConnector,
  log: Logger,
): Promise<ConnectorTrigger | AppError> {
  if (!app.connectors?.receivesEvents) return eventsNotConfigured;
  const id = randomUUID();
  const begun = await beginConnectorTrigger(app.db, accountId, taskId, {
    id,
    connector,
    event,
    config,
  });
  if (isAppError(begun)) return begun;
  const sourceId = await askProvider(
    app,
    log,
    (provider) => provider.subscribe({ accountId, connector, event, config }),
    (subscribed) => subscribed.id,
  );
  const made = isAppError(sourceId)
    ? sourceId
    : await confirmConnectorTrigger(app.db, accountId, id, sourceId);
  if (isAppError(made)) await removeTrigger(app.db, accountId, { id: taskId, trigger_id: id });
  return made;
}

const eventsNotConfigured = appError(
  "not_configured",
  "Events of connected accounts are not configured: set COMPOSIO_API_KEY and COMPOSIO_WEBHOOK_SECRET",
);

/** Deletes a trigger, and ends its subscription unless another trigger has it, too. Errors: 404. */
export async function deleteTrigger(
  app: Parts<"db" | "connectors">,
  accountId: string,
  path: TriggerPath,
  log: Logger,
): Promise<AppError | undefined> {
  const refused = await removeTrigger(app.db, accountId, path);
  if (!refused) await endUnusedSubscriptions(app, accountId, log);
  return refused;
}

/**
 * Creates a URL, and returns it with its secret. Errors: 400 for a secret that does not suit the signature, 403 when the
 * task has 10 triggers, 404 `Task not found`.
 */
async function createWebhook(
  db: Database,
  accountId: string,
  taskId: string,
  { secret: given, secret_in_url, ...values }: NewWebhook,
): Promise<(WebhookTrigger & { readonly secret: string }) | AppError> {
  const { signature = null }: { signature?: Signature | null } = values;
  if (signature === null && given !== undefined) {
    return invalidField("secret", "secret must not be set without signature: one is made");
  }
  if (signature !== null && secret_in_url) {
    return invalidField("secret_in_url", "secret_in_url must not be set with signature");
  }
  if (signature === "slack" && given === undefined) {
    return invalidField("secret", "secret is required: the signing secret of the Slack app");
  }
  if (signature !== null && given !== undefined && !isSecretOf(signature, given)) {
    return signature === "standard"
      ? invalidField("secret", "secret must be whsec_ and a key in base64")
      : invalidField("secret", "secret must be printable ASCII without spaces");
  }
  const id = randomUUID();
  const secret = given ?? newSecret(signature);
  const stored = { id, signature, secret: storedSecret(id, signature, secret) };
  const made = await insertTrigger(db, accountId, taskId, { ...stored, secret_in_url });
  if (isAppError(made)) return made;
  return { ...made, url: secret_in_url ? `${made.url}?secret=${secret}` : made.url, secret };
}
