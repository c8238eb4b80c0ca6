import { appError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { revokeKeyContract } from "@/lib/identity/keys/contract.ts";
import { revokeKey } from "@/lib/identity/keys/keys.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(revokeKeyContract, async ({ app, caller, params }) =>
    (await revokeKey(app.db, caller.accountId, params.id))
      ? { body: { status: "success" } }
      : appError("not_found", "Key not found"),
  ),
});
