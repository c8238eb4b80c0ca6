import { methods } from "@platform/endpoint/methods";
import { listActionsContract } from "@/lib/connectors/contract.ts";
import { listActions } from "@/lib/connectors/use-connectors.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listActionsContract, ({ app, caller, params: { connector }, query, log }) =>
    listActions(app, caller, { connector, limit: query.limit, cursor: query.cursor }, log),
  ),
});
