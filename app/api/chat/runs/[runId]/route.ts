import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { getRun, pollHint } from "@/lib/turns/get-run.ts";
import { getRunContract } from "@/lib/turns/run-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getRunContract, async ({ app, caller, params }) => {
    const run = await getRun(app, caller.accountId, params.runId);
    return isAppError(run) ? run : { body: run, headers: pollHint(run) };
  }),
});
