import { appError } from "@platform/endpoint/contract/app-error";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { revokeKeyContract } from "@/lib/identity/keys/contract.ts";
import { revokeKey } from "@/lib/identity/keys/keys.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(revokeKeyContract, async ({ caller, params }) =>
    (await revokeKey(caller.accountId, params.id))
      ? { body: { status: "success" } }
      : appError("not_found", "Key not found"),
  ),
});
