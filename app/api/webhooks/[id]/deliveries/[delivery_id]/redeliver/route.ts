import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { redeliver } from "@/lib/webhooks/change-webhook.ts";
import { redeliverContract } from "@/lib/webhooks/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(redeliverContract, ({ app, caller, params: { id, delivery_id } }) =>
    answer(redeliver(app, caller.accountId, id, delivery_id), (delivery) => ({
      status: 202,
      body: { status: "success", delivery },
    })),
  ),
});
