import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { deleteChatsContract } from "@/lib/sessions/chats-contract.ts";
import { deleteChats } from "@/lib/sessions/delete-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(deleteChatsContract, async ({ app, caller, body, log }) => ({
    body: {
      status: "success",
      deleted: await deleteChats(app, caller.accountId, body.ids, log),
    },
  })),
});
