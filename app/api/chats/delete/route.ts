import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { deleteChatsContract } from "@/lib/sessions/chats-contract.ts";
import { deleteChats } from "@/lib/sessions/delete-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(deleteChatsContract, async ({ caller: { accountId }, body, log }) => ({
    body: { status: "success", deleted: await deleteChats({ accountId, ids: body.ids, log }) },
  })),
});
