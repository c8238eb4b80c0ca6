import { answer, done } from "@platform/endpoint/answers";
import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listSandboxFilesContract, removeSandboxFileContract } from "@/lib/sandbox/contract.ts";
import { listFiles, removeFile } from "@/lib/sandbox/sandbox-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listSandboxFilesContract, async ({ app, caller, query, log }) => {
    const listing = await listFiles(app, { accountId: caller.accountId, ...query, log });
    if (isAppError(listing)) return listing;
    return { body: { status: "success", sessionId: query.sessionId, ...listing } };
  }),
  DELETE: endpoint(removeSandboxFileContract, ({ app, caller, query, log }) =>
    answer(removeFile(app, { accountId: caller.accountId, ...query, log }), done),
  ),
});
