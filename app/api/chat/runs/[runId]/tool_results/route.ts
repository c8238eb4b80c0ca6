import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { pollHint } from "@/lib/turns/get-run.ts";
import { sendToolResultsContract } from "@/lib/turns/run-contract.ts";
import { sendToolResults } from "@/lib/turns/send-tool-results.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(sendToolResultsContract, async ({ app, caller, params, body }) => {
    const run = await sendToolResults(app, caller.accountId, params.runId, body.results);
    return isAppError(run) ? run : { body: run, headers: pollHint(run) };
  }),
});
