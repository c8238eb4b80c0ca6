import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import * as contracts from "@/lib/accounts/contract.ts";
import { deleteAccount } from "@/lib/accounts/delete-account.ts";
import { describeCaller } from "@/lib/accounts/describe-caller.ts";
import { selectAccount, updateAccount } from "@/lib/accounts/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getAccountContract, async ({ app, caller, request }) =>
    describeCaller(await selectAccount(app.db, caller.accountId), caller, request.headers),
  ),
  PATCH: endpoint(contracts.updateAccountContract, async ({ app, caller, body, request }) =>
    describeCaller(await updateAccount(app.db, caller.accountId, body), caller, request.headers),
  ),
  DELETE: endpoint(contracts.deleteAccountContract, ({ app, caller, body, log }) =>
    answer(deleteAccount(app, caller.accountId, body.confirm, log), done),
  ),
});
