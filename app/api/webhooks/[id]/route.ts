import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { updateWebhook } from "@/lib/webhooks/change-webhook.ts";
import * as contracts from "@/lib/webhooks/contract.ts";
import { removeWebhook, selectWebhook } from "@/lib/webhooks/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getWebhookContract, ({ caller, params }) =>
    answer(selectWebhook(caller.accountId, params.id), (webhook) => success({ webhook })),
  ),
  PATCH: endpoint(contracts.updateWebhookContract, ({ caller, params, body }) =>
    answer(updateWebhook(caller.accountId, params.id, body), (webhook) => success({ webhook })),
  ),
  DELETE: endpoint(contracts.deleteWebhookContract, ({ caller, params }) =>
    answer(removeWebhook(caller.accountId, params.id), done),
  ),
});
