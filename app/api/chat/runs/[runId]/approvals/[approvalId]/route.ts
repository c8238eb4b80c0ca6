import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { answerApprovalContract } from "@/lib/approvals/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { answerApproval } from "@/lib/turns/answer-approvals.ts";
import { pollHint } from "@/lib/turns/get-run.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(answerApprovalContract, async ({ app, caller, params, body }) => {
    const answer = { id: params.approvalId, ...body };
    const run = await answerApproval(app, caller, params.runId, answer);
    return isAppError(run) ? run : { body: run, headers: pollHint(run) };
  }),
});
