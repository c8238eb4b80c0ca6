import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { rotateSecret } from "@/lib/webhooks/change-webhook.ts";
import { rotateWebhookContract } from "@/lib/webhooks/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(rotateWebhookContract, ({ app, caller, params }) =>
    answer(rotateSecret(app.db, caller.accountId, params.id), (rotated) => ({
      body: { status: "success", ...rotated },
    })),
  ),
});
