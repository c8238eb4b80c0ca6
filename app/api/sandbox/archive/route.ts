import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { folderEntries } from "@/lib/sandbox/archive-folder.ts";
import { archiveSandboxContract } from "@/lib/sandbox/contract.ts";
import { archiveResponse } from "@/lib/sandbox/file-response.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(archiveSandboxContract, ({ app, caller, query, log }) =>
    answer(folderEntries(app, { accountId: caller.accountId, ...query, log }), (entries) =>
      archiveResponse(entries, query),
    ),
  ),
});
