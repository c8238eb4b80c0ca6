import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { finishMcpAuthorizationContract } from "@/lib/mcp-servers/contract.ts";
import { connectServer } from "@/lib/mcp-servers/servers.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(finishMcpAuthorizationContract, ({ app, caller, body }) =>
    answer(connectServer(app, caller.accountId, body), (server) => success({ server })),
  ),
});
