import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listWorkspaceFilesContract } from "@/lib/workspace/contract.ts";
import { selectFiles } from "@/lib/workspace/store.ts";
import { placeOf } from "@/lib/workspace/workspace-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listWorkspaceFilesContract, async ({ app, caller, query }) => {
    const page = await selectFiles(app.db, placeOf(caller, query), query.prefix, query);
    return listOf("/api/workspace/files", query, "files", page);
  }),
});
