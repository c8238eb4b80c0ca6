import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { createMcpServerContract, listMcpServersContract } from "@/lib/mcp-servers/contract.ts";
import { createServer } from "@/lib/mcp-servers/servers.ts";
import { selectServers } from "@/lib/mcp-servers/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listMcpServersContract, async ({ app, caller, query }) => {
    const page = await selectServers(app.db, caller.accountId, query);
    return listOf("/api/mcp-servers", query, "servers", page);
  }),
  POST: endpoint(createMcpServerContract, ({ app, caller, body }) =>
    answer(createServer(app, caller.accountId, body), (server) => created({ server })),
  ),
});
