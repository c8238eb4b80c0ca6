import { getAccountContract, updateAccountContract } from "@/lib/accounts/contract.ts";
import { describeCaller } from "@/lib/accounts/describe-caller.ts";
import { selectAccount, updateAccount } from "@/lib/accounts/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getAccountContract, async ({ caller, request }) =>
    describeCaller(await selectAccount(caller.accountId), caller, request.headers),
  ),
  PATCH: endpoint(updateAccountContract, async ({ caller, body, request }) =>
    describeCaller(await updateAccount(caller.accountId, body), caller, request.headers),
  ),
});
