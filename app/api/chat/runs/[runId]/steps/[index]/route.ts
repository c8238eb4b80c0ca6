import { answer } from "@platform/endpoint/answers";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { readModelCallContract } from "@/lib/turns/model-call-contract.ts";
import { readModelCall } from "@/lib/turns/read-model-call.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readModelCallContract, ({ caller, params: { runId, index }, query }) =>
    answer(readModelCall(caller.accountId, runId, { ...query, index }), (body) => ({ body })),
  ),
});
