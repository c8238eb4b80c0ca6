import { appError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listRunStepsContract } from "@/lib/turns/run-contract.ts";
import { selectRunTrace } from "@/lib/turns/store/runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listRunStepsContract, async ({ app, caller, params }) => {
    const trace = await selectRunTrace(app.db, caller.accountId, params.runId);
    return trace
      ? { body: { status: "success", ...trace } }
      : appError("not_found", "Run not found");
  }),
});
