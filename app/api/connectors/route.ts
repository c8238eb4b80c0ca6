import { authorizeConnector } from "@/lib/connectors/authorize-connector.ts";
import { createConnectionContract, listConnectionsContract } from "@/lib/connectors/contract.ts";
import { listConnections } from "@/lib/connectors/list-connections.ts";
import { route } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(createConnectionContract, ({ caller: { accountId }, body, log }) =>
    authorizeConnector(
      { accountId, connector: body.connector, callbackUrl: body.callback_url },
      log,
    ),
  ),
  GET: route(listConnectionsContract, ({ caller, log }) => listConnections(caller.accountId, log)),
});
