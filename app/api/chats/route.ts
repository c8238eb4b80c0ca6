import { pageOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listAccountChatsContract } from "@/lib/sessions/contract.ts";
import { selectAccountChats } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listAccountChatsContract, async ({ caller, query }) => {
    const { chats, nextCursor } = await selectAccountChats(caller.accountId, query);
    return pageOf("/api/chats", query, nextCursor, { status: "success", chats });
  }),
});
