import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { continueShareContract } from "@/lib/sessions/shares/contract.ts";
import { continueShare } from "@/lib/sessions/shares/share-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(continueShareContract, ({ app, caller, params }) =>
    answer(continueShare(app, caller.accountId, params.token), (body) => ({ status: 201, body })),
  ),
});
