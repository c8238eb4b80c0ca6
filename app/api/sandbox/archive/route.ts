import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { archiveFolder } from "@/lib/sandbox/archive-folder.ts";
import { archiveSandboxContract } from "@/lib/sandbox/contract.ts";
import { archiveResponse } from "@/lib/sandbox/file-response.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(archiveSandboxContract, async ({ app, caller, query, log }) => {
    const archive = await archiveFolder(app, { accountId: caller.accountId, ...query, log });
    return isAppError(archive) ? archive : archiveResponse(archive, query);
  }),
});
