import { methods } from "@/lib/http/methods.ts";
import { addressOf } from "@/lib/http/rate-limit.ts";
import { route } from "@/lib/http/route.ts";
import { verifyContract } from "@/lib/signup/contract.ts";
import { verifyCode } from "@/lib/signup/verify-code.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(verifyContract, ({ body, request }) =>
    verifyCode(body.email, body.code, addressOf(request.headers)),
  ),
});
