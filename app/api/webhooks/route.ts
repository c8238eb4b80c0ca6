import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { createWebhook } from "@/lib/webhooks/change-webhook.ts";
import { createWebhookContract, listWebhooksContract } from "@/lib/webhooks/contract.ts";
import { selectWebhooks } from "@/lib/webhooks/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createWebhookContract, ({ app, caller, body }) =>
    answer(createWebhook(app.db, caller.accountId, body), created),
  ),
  GET: endpoint(listWebhooksContract, async ({ app, caller, query }) => {
    const page = await selectWebhooks(app.db, caller.accountId, query);
    return listOf("/api/webhooks", query, "webhooks", page);
  }),
});
