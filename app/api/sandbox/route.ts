import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/sandbox/contract.ts";
import { getSandbox, sandboxAnswer } from "@/lib/sandbox/get-sandbox.ts";
import { provisionSandbox } from "@/lib/sandbox/provision-sandbox.ts";
import { stopSandbox } from "@/lib/sessions/stop-sandbox.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(contracts.provisionSandboxContract, ({ app, caller: { accountId }, body, log }) =>
    answer(provisionSandbox(app, { accountId, ...body, log }), sandboxAnswer(body)),
  ),
  GET: endpoint(contracts.getSandboxContract, ({ app, caller: { accountId }, query, log }) =>
    answer(getSandbox(app, { accountId, ...query, log }), sandboxAnswer(query)),
  ),
  DELETE: endpoint(contracts.stopSandboxContract, ({ app, caller: { accountId }, query, log }) =>
    answer(stopSandbox(app, { accountId, ...query, log }), sandboxAnswer(query)),
  ),
});
