import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createKeyContract, listKeysContract } from "@/lib/identity/keys/contract.ts";
import { createKey } from "@/lib/identity/keys/create-key.ts";
import { describeKey } from "@/lib/identity/keys/describe-key.ts";
import { selectKeys } from "@/lib/identity/keys/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listKeysContract, async ({ caller }) => ({
    body: { status: "success", keys: (await selectKeys(caller.accountId)).map(describeKey) },
  })),
  POST: endpoint(createKeyContract, async ({ caller, body }) => {
    const key = await createKey(caller.accountId, body.key_name, body.expires_in_days);
    return isAppError(key) ? key : { status: 201, body: key };
  }),
});
