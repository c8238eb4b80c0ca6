import { answer, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listDeliveriesContract } from "@/lib/webhooks/contract.ts";
import { selectDeliveries } from "@/lib/webhooks/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listDeliveriesContract, ({ app, caller, params: { id }, query }) =>
    answer(selectDeliveries(app.db, caller.accountId, id, query), (page) =>
      listOf(`/api/webhooks/${id}/deliveries`, query, "deliveries", page),
    ),
  ),
});
