import { appError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";
import { revokeKeyContract } from "@/lib/keys/contract.ts";
import { revokeKey } from "@/lib/keys/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: route(revokeKeyContract, async ({ caller, params }) =>
    (await revokeKey(caller.accountId, params.id))
      ? { body: { status: "success" } }
      : appError("not_found", "Key not found"),
  ),
});
