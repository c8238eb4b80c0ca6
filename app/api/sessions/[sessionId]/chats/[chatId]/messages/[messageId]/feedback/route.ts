import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { rateMessage } from "@/lib/sessions/branches.ts";
import { rateMessageContract } from "@/lib/sessions/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  PUT: endpoint(rateMessageContract, ({ app, caller: { accountId }, params, body }) =>
    answer(rateMessage(app.db, { accountId, ...params }, body), (rated) => ({
      body: { status: "success", ...rated },
    })),
  ),
});
