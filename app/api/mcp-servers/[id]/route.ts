import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/mcp-servers/contract.ts";
import { updateServer } from "@/lib/mcp-servers/servers.ts";
import { removeServer, selectServer } from "@/lib/mcp-servers/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getMcpServerContract, ({ app, caller, params }) =>
    answer(selectServer(app.db, caller.accountId, params.id), (server) => success({ server })),
  ),
  PATCH: endpoint(contracts.updateMcpServerContract, ({ app, caller, params, body }) => {
    const changed = updateServer(app, caller.accountId, params.id, body);
    return answer(changed, (server) => success({ server }));
  }),
  DELETE: endpoint(contracts.deleteMcpServerContract, ({ app, caller, params }) =>
    answer(removeServer(app.db, caller.accountId, params.id), done),
  ),
});
