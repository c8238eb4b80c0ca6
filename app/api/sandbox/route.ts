import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import {
  getSandboxContract,
  provisionSandboxContract,
  stopSandboxContract,
} from "@/lib/sandbox/contract.ts";
import { describeSandbox, noSandbox } from "@/lib/sandbox/describe-sandbox.ts";
import { getSandbox } from "@/lib/sandbox/get-sandbox.ts";
import { provisionSandbox } from "@/lib/sandbox/provision-sandbox.ts";
import { stopSandbox } from "@/lib/sessions/stop-sandbox.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(provisionSandboxContract, async ({ caller, body, log }) => {
    const state = await provisionSandbox({ accountId: caller.accountId, ...body, log });
    if (isAppError(state)) return state;
    return { body: { status: "success", ...body, sandbox: describeSandbox(state, "active") } };
  }),

  GET: endpoint(getSandboxContract, async ({ caller, query, log }) => {
    const sandbox = await getSandbox({ accountId: caller.accountId, ...query, log });
    return isAppError(sandbox) ? sandbox : { body: { status: "success", ...query, sandbox } };
  }),

  DELETE: endpoint(stopSandboxContract, async ({ caller, query, log }) => {
    const failure = await stopSandbox({ accountId: caller.accountId, ...query, log });
    return failure ?? { body: { status: "success", ...query, sandbox: noSandbox } };
  }),
});
