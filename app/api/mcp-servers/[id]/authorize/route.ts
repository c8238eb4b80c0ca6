import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { authorizeMcpServerContract } from "@/lib/mcp-servers/contract.ts";
import { startAuthorization } from "@/lib/mcp-servers/oauth.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(authorizeMcpServerContract, ({ app, caller, params }) =>
    answer(startAuthorization(app.db, caller.accountId, params.id), (url) => success({ url })),
  ),
});
