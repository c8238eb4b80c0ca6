import { methods } from "@platform/endpoint/methods";
import { senderOf } from "@/lib/http/address.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { signupContract } from "@/lib/identity/sign-up/contract.ts";
import { requestCode } from "@/lib/identity/sign-up/sign-up.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(signupContract, ({ app, body, request, log }) =>
    requestCode(app, body.email, senderOf(request.headers), log),
  ),
});
