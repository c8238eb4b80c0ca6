import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { exportChatContract } from "@/lib/sessions/contract.ts";
import { exportChat } from "@/lib/sessions/export-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(exportChatContract, ({ app, caller: { accountId }, params, query }) =>
    exportChat(app.db, { accountId, ...params }, query.format),
  ),
});
