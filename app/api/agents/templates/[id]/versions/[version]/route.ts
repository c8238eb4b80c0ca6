import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { getTemplateVersionContract } from "@/lib/templates/contract.ts";
import { selectTemplateVersion } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getTemplateVersionContract, ({ app, caller: { accountId }, params, query }) =>
    answer(
      selectTemplateVersion(app.db, accountId, params.id, params.version, query.compare_to),
      (found) => success(found),
    ),
  ),
});
