import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { rotateKeyContract } from "@/lib/identity/keys/contract.ts";
import { rotateKey } from "@/lib/identity/keys/keys.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(rotateKeyContract, async ({ app, caller, params, body }) => {
    const key = await rotateKey(app.db, caller.accountId, params.id, body.grace_seconds);
    return isAppError(key) ? key : { status: 201, body: key };
  }),
});
