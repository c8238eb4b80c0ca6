import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import {
  deleteChatContract,
  getChatContract,
  updateChatContract,
} from "@/lib/sessions/contract.ts";
import { deleteChat } from "@/lib/sessions/delete-chat.ts";
import { selectChatBody } from "@/lib/sessions/store.ts";
import { updateChat } from "@/lib/sessions/update-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getChatContract, async ({ caller, params }) => {
    const json = await selectChatBody(caller.accountId, params.sessionId, params.chatId);
    if (isAppError(json)) return json;
    return new Response(json, { headers: { "content-type": "application/json" } });
  }),

  PATCH: endpoint(updateChatContract, async ({ caller, params, body }) => {
    const chat = await updateChat({ accountId: caller.accountId, ...params, changes: body });
    return isAppError(chat) ? chat : { body: { chat } };
  }),

  DELETE: endpoint(deleteChatContract, async ({ caller, params }) => {
    const failure = await deleteChat({ accountId: caller.accountId, ...params });
    return failure ?? { body: { status: "success" } };
  }),
});
