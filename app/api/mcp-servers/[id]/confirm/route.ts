import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { confirmMcpToolsContract } from "@/lib/mcp-servers/contract.ts";
import { confirmTools } from "@/lib/mcp-servers/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(confirmMcpToolsContract, ({ app, caller, params, body }) => {
    const confirmed = confirmTools(app.db, caller.accountId, params.id, body.tools);
    return answer(confirmed, (server) => success({ server }));
  }),
});
