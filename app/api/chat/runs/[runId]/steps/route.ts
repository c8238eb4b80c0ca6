import { appError } from "@platform/endpoint/contract/app-error";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listRunStepsContract } from "@/lib/turns/run-contract.ts";
import { selectRunTrace } from "@/lib/turns/store/runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listRunStepsContract, async ({ caller, params }) => {
    const trace = await selectRunTrace(caller.accountId, params.runId);
    return trace
      ? { body: { status: "success", ...trace } }
      : appError("not_found", "Run not found");
  }),
});
