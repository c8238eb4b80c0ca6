import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { refreshMcpServerContract } from "@/lib/mcp-servers/contract.ts";
import { refreshServer } from "@/lib/mcp-servers/servers.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(refreshMcpServerContract, ({ app, caller, params }) =>
    answer(refreshServer(app, caller.accountId, params.id), (server) => success({ server })),
  ),
});
