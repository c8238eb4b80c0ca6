import { answer, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listTriggerEventsContract } from "@/lib/triggers/contract.ts";
import { selectTriggerEvents } from "@/lib/triggers/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listTriggerEventsContract, ({ app, caller, params, query }) =>
    answer(selectTriggerEvents(app.db, caller.accountId, params, query), (page) => {
      const path = `/api/tasks/${params.id}/triggers/${params.trigger_id}/events`;
      return listOf(path, query, "events", page);
    }),
  ),
});
