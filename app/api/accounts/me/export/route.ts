import { methods } from "@platform/endpoint/methods";
import { exportAccountContract } from "@/lib/accounts/contract.ts";
import { exportAccount } from "@/lib/accounts/export-account.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { archiveResponse } from "@/lib/sandbox/file-response.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(exportAccountContract, async ({ app, caller, log }) =>
    archiveResponse(exportAccount(app, { accountId: caller.accountId, log }), { path: "account" }),
  ),
});
