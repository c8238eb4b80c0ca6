import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { readModelCallContract } from "@/lib/turns/model-call-contract.ts";
import { readModelCall } from "@/lib/turns/read-model-call.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readModelCallContract, ({ app, caller, params: { runId, index }, query }) =>
    answer(readModelCall(app.db, caller.accountId, runId, { ...query, index }), (body) => ({
      body,
    })),
  ),
});
