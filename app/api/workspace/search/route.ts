import { success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { searchWorkspaceContract } from "@/lib/workspace/contract.ts";
import { searchFiles } from "@/lib/workspace/store.ts";
import { placeOf } from "@/lib/workspace/workspace-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(searchWorkspaceContract, async ({ app, caller, query }) =>
    success({ results: await searchFiles(app.db, placeOf(caller, query), query.q, query.limit) }),
  ),
});
