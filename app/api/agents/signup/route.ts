import { methods } from "@/lib/http/methods.ts";
import { addressOf } from "@/lib/http/rate-limit.ts";
import { route } from "@/lib/http/route.ts";
import { signupContract } from "@/lib/signup/contract.ts";
import { requestCode } from "@/lib/signup/request-code.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(signupContract, ({ body, request, log }) =>
    requestCode(body.email, addressOf(request.headers), log),
  ),
});
