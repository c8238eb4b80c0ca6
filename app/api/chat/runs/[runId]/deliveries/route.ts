import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { listRunDeliveriesContract } from "@/lib/delivery/contract.ts";
import { selectRunDeliveries } from "@/lib/delivery/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listRunDeliveriesContract, ({ app, caller, params }) =>
    answer(selectRunDeliveries(app.db, caller.accountId, params.runId), (deliveries) =>
      success({ deliveries }),
    ),
  ),
});
