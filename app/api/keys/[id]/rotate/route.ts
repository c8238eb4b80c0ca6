import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";
import { rotateKeyContract } from "@/lib/keys/contract.ts";
import { rotateKey } from "@/lib/keys/rotate-key.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(rotateKeyContract, async ({ caller, params, body }) => {
    const key = await rotateKey(caller.accountId, params.id, body.grace_seconds);
    return isAppError(key) ? key : { status: 201, body: key };
  }),
});
