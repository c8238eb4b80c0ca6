import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listAccountChatsContract } from "@/lib/sessions/chats-contract.ts";
import { selectAccountChats } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listAccountChatsContract, async ({ app, caller, query }) => {
    const page = await selectAccountChats(app.db, caller.accountId, query);
    return listOf("/api/chats", query, "chats", page);
  }),
});
