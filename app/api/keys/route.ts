import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { createKeyContract, listKeysContract } from "@/lib/identity/keys/contract.ts";
import { createKey, listKeys } from "@/lib/identity/keys/keys.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listKeysContract, async ({ app, caller }) => ({
    body: { status: "success", keys: await listKeys(app.db, caller.accountId) },
  })),
  POST: endpoint(createKeyContract, async ({ app, caller, body }) => {
    const key = await createKey(app.db, caller.accountId, body.key_name, body.expires_in_days);
    return isAppError(key) ? key : { status: 201, body: key };
  }),
});
