import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { createTriggerContract, listTriggersContract } from "@/lib/triggers/contract.ts";
import { createTrigger } from "@/lib/triggers/create-trigger.ts";
import { selectTriggers } from "@/lib/triggers/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createTriggerContract, ({ app, caller, params: { id }, body, log }) =>
    answer(createTrigger(app, caller.accountId, id, body, log), created),
  ),
  GET: endpoint(listTriggersContract, ({ app, caller, params: { id }, query }) =>
    answer(selectTriggers(app.db, caller.accountId, id, query), (page) =>
      listOf(`/api/tasks/${id}/triggers`, query, "triggers", page),
    ),
  ),
});
