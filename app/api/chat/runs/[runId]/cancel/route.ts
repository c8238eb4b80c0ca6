import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { cancelRunContract } from "@/lib/turns/run-contract.ts";
import { cancelRun } from "@/lib/turns/stop-turn.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(cancelRunContract, ({ app, caller, params }) =>
    answer(cancelRun(app, caller.accountId, params.runId), (result) => ({
      body: { status: "success", ...result },
    })),
  ),
});
