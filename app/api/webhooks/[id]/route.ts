import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { updateWebhook } from "@/lib/webhooks/change-webhook.ts";
import * as contracts from "@/lib/webhooks/contract.ts";
import { removeWebhook, selectWebhook } from "@/lib/webhooks/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getWebhookContract, ({ app, caller, params }) =>
    answer(selectWebhook(app.db, caller.accountId, params.id), (webhook) => success({ webhook })),
  ),
  PATCH: endpoint(contracts.updateWebhookContract, ({ app, caller, params, body }) =>
    answer(updateWebhook(app.db, caller.accountId, params.id, body), (webhook) =>
      success({ webhook }),
    ),
  ),
  DELETE: endpoint(contracts.deleteWebhookContract, ({ app, caller, params }) =>
    answer(removeWebhook(app.db, caller.accountId, params.id), done),
  ),
});
