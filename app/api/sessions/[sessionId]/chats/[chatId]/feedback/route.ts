import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { selectFeedback } from "@/lib/sessions/branches.ts";
import { listFeedbackContract } from "@/lib/sessions/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listFeedbackContract, ({ app, caller: { accountId }, params }) =>
    answer(selectFeedback(app.db, { accountId, ...params }), (body) => ({
      body: { status: "success", ...body },
    })),
  ),
});
