import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { testWebhook } from "@/lib/webhooks/change-webhook.ts";
import { testWebhookContract } from "@/lib/webhooks/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(testWebhookContract, ({ app, caller, params }) =>
    answer(testWebhook(app, caller.accountId, params.id), (delivery) => ({
      status: 202,
      body: { status: "success", delivery },
    })),
  ),
});
