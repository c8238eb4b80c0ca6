import { isAppError } from "@platform/endpoint/contract/app-error";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { getRun, pollHint } from "@/lib/turns/get-run.ts";
import { getRunContract } from "@/lib/turns/run-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getRunContract, async ({ app, caller, params }) => {
    const run = await getRun(app, caller.accountId, params.runId);
    return isAppError(run) ? run : { body: run, headers: pollHint(run) };
  }),
});
