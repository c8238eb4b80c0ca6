import { answer, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listWorkspaceVersionsContract } from "@/lib/workspace/contract.ts";
import { selectVersions } from "@/lib/workspace/store.ts";
import { placeOf } from "@/lib/workspace/workspace-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listWorkspaceVersionsContract, ({ app, caller, query }) =>
    answer(selectVersions(app.db, placeOf(caller, query), query.path, query), (page) =>
      listOf("/api/workspace/versions", query, "versions", page),
    ),
  ),
});
