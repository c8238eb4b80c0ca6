import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { after } from "next/server";
import { createVideoContract } from "@/lib/content/contract.ts";
import { createVideo } from "@/lib/content/create-video.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createVideoContract, async ({ app, caller, effectId, idempotencyKey, body }) => {
    const attempt = { caller, effectId, idempotencyKey, keepAlive: after };
    const made = await createVideo(app, attempt, body);
    if (isAppError(made)) return made;
    const { location, ...result } = made;
    return { body: result, headers: { location } };
  }),
});
