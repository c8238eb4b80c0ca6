import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";
import { createKeyContract, listKeysContract } from "@/lib/keys/contract.ts";
import { createKey } from "@/lib/keys/create-key.ts";
import { describeKey } from "@/lib/keys/describe-key.ts";
import { selectKeys } from "@/lib/keys/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(listKeysContract, async ({ caller }) => ({
    body: { status: "success", keys: (await selectKeys(caller.accountId)).map(describeKey) },
  })),
  POST: route(createKeyContract, async ({ caller, body }) => ({
    status: 201,
    body: await createKey(caller.accountId, body.key_name, body.expires_in_days),
  })),
});
