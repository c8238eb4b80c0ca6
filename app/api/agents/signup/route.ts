import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { addressOf } from "@/lib/http/rate-limit.ts";
import { signupContract } from "@/lib/identity/sign-up/contract.ts";
import { requestCode } from "@/lib/identity/sign-up/request-code.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(signupContract, ({ body, request, log }) =>
    requestCode(body.email, addressOf(request.headers), log),
  ),
});
