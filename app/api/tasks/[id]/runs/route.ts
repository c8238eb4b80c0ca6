import { answer, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listTaskFiringsContract } from "@/lib/tasks/contract.ts";
import { selectTaskFirings } from "@/lib/tasks/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listTaskFiringsContract, ({ app, caller, params: { id }, query }) =>
    answer(selectTaskFirings(app.db, caller.accountId, id, query), (page) =>
      listOf(`/api/tasks/${id}/runs`, query, "runs", page),
    ),
  ),
});
