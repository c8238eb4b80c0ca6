import { methods } from "@platform/endpoint/methods";
import { runActionContract } from "@/lib/connectors/contract.ts";
import { runAction } from "@/lib/connectors/use-connectors.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(runActionContract, ({ app, caller, params, body: { input }, log }) =>
    runAction(app, caller, { ...params, input }, log),
  ),
});
