import { answer, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listTemplateVersionsContract } from "@/lib/templates/contract.ts";
import { selectTemplateVersions } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listTemplateVersionsContract, ({ app, caller, params, query }) =>
    answer(selectTemplateVersions(app.db, caller.accountId, params.id, query), (page) =>
      listOf(`/api/agents/templates/${params.id}/versions`, query, "versions", page),
    ),
  ),
});
