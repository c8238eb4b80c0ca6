import { createConnectionContract, listConnectionsContract } from "@/lib/connectors/contract.ts";
import { authorizeConnector, listConnections } from "@/lib/connectors/use-connectors.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createConnectionContract, ({ caller, body, log }) =>
    authorizeConnector({ caller, connector: body.connector, callbackUrl: body.callback_url }, log),
  ),
  GET: endpoint(listConnectionsContract, ({ caller, log }) =>
    listConnections(caller.accountId, log),
  ),
});
