import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/workspace/contract.ts";
import * as files from "@/lib/workspace/workspace-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.readWorkspaceFileContract, ({ app, caller, query, request }) =>
    files.readWorkspaceFile(app, caller, query, request.signal),
  ),
  PUT: endpoint(contracts.writeWorkspaceFileContract, ({ app, caller, query, request }) =>
    answer(files.writeRequestFile(app, caller, query, request), files.describeWrittenFile),
  ),
  DELETE: endpoint(contracts.deleteWorkspaceFileContract, ({ app, caller, query }) =>
    answer(files.deleteWorkspaceFile(app.db, caller, query), done),
  ),
});
