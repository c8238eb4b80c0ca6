import { after } from "next/server";
import { createImageContract } from "@/lib/content/contract.ts";
import { createImage } from "@/lib/content/create-image.ts";
import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(
    createImageContract,
    async ({ caller: { accountId }, effectId, idempotencyKey, body }) => {
      const attempt = { accountId, effectId, idempotencyKey, keepAlive: after };
      const made = await createImage(attempt, body);
      if (isAppError(made)) return made;
      const { location, ...result } = made;
      return { body: result, headers: { location } };
    },
  ),
});
