import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { after } from "next/server";
import { createImageContract } from "@/lib/content/contract.ts";
import { createImage } from "@/lib/content/create-image.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createImageContract, async ({ app, caller, effectId, idempotencyKey, body }) => {
    const attempt = { caller, effectId, idempotencyKey, keepAlive: after };
    const made = await createImage(app, attempt, body);
    if (isAppError(made)) return made;
    const { location, ...result } = made;
    return { body: result, headers: { location } };
  }),
});
