import { isAppError } from "@/lib/contract/app-error.ts";
import { linkHeader } from "@/lib/contract/pagination.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createChatContract, listChatsContract } from "@/lib/sessions/contract.ts";
import { createChat } from "@/lib/sessions/create-chat.ts";
import { selectChats } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createChatContract, async ({ caller, params, body }) => {
    const { id: chatId, title, modelId } = body;
    const chat = await createChat({
      accountId: caller.accountId,
      ...params,
      chatId,
      title,
      modelId,
    });
    return isAppError(chat) ? chat : { status: 201, body: { chat } };
  }),

  GET: endpoint(listChatsContract, async ({ caller, params, query }) => {
    const page = await selectChats(caller.accountId, params.sessionId, query);
    if (isAppError(page)) return page;
    return {
      body: { chats: page.chats, next_cursor: page.nextCursor },
      headers: linkHeader(`/api/sessions/${params.sessionId}/chats`, query.limit, page.nextCursor),
    };
  }),
});
