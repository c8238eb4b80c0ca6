import { methods } from "@platform/endpoint/methods";
import { createConnectionContract, listConnectionsContract } from "@/lib/connectors/contract.ts";
import { authorizeConnector, listConnections } from "@/lib/connectors/use-connectors.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createConnectionContract, ({ app, caller, body, log }) =>
    authorizeConnector(app, caller, body, log),
  ),
  GET: endpoint(listConnectionsContract, ({ app, caller, log }) =>
    listConnections(app, caller.accountId, log),
  ),
});
