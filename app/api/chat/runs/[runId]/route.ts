import { getRunContract } from "@/lib/chat/contract.ts";
import { getRun, pollHint } from "@/lib/chat/get-run.ts";
import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(getRunContract, async ({ caller, params }) => {
    const run = await getRun(caller.accountId, params.runId);
    return isAppError(run) ? run : { body: run, headers: pollHint(run) };
  }),
});
