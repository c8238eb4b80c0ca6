import { methods } from "@platform/endpoint/methods";
import { senderOf } from "@/lib/http/address.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { verifyContract } from "@/lib/identity/sign-up/contract.ts";
import { verifyCode } from "@/lib/identity/sign-up/sign-up.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(verifyContract, ({ app, body, request }) =>
    verifyCode(app.db, body.email, body.code, senderOf(request.headers)),
  ),
});
