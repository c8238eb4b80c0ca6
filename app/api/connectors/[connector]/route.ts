import { methods } from "@platform/endpoint/methods";
import { removeConnectionsContract } from "@/lib/connectors/contract.ts";
import { removeConnections } from "@/lib/connectors/use-connectors.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(removeConnectionsContract, ({ app, caller, params, log }) =>
    removeConnections(app, caller.accountId, params.connector, log),
  ),
});
