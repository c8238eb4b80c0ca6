import { methods } from "@platform/endpoint/methods";
import { listConnectorEventsContract } from "@/lib/connectors/contract.ts";
import { listEvents } from "@/lib/connectors/use-connectors.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listConnectorEventsContract, ({ app, params: { connector }, query, log }) =>
    listEvents(app, { connector, limit: query.limit, cursor: query.cursor }, log),
  ),
});
