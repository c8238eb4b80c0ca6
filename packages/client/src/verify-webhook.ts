import { Webhook, WebhookVerificationError } from "standardwebhooks";

export { WebhookVerificationError };

export interface WebhookEvent {
  /** Such as `run.completed`. */
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Resolves to the event of a delivery that the service has signed within the last five minutes. An
 * event may be delivered more than once, each time with the same `webhook-id`.
 *
 * @param delivery as it came; its body must not have been read
 * @param secret of the webhook, `whsec_…`
 * @throws WebhookVerificationError for any other request
 */
export async function verifyWebhook(delivery: Request, secret: string): Promise<WebhookEvent> {
  const text = await delivery.text();
  return new Webhook(secret).verify(text, Object.fromEntries(delivery.headers)) as WebhookEvent;
}
