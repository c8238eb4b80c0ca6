import { answer, pageOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { createChat } from "@/lib/sessions/change-chat.ts";
import { createChatContract, listChatsContract } from "@/lib/sessions/contract.ts";
import { selectChats } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createChatContract, ({ app, caller: { accountId }, params, body }) =>
    answer(createChat(app, { accountId, ...params }, body), (chat) => ({
      status: 201,
      body: { chat },
    })),
  ),
  GET: endpoint(listChatsContract, ({ app: { db }, caller, params: { sessionId }, query }) =>
    answer(selectChats(db, caller.accountId, sessionId, query), ({ items: chats, nextCursor }) =>
      pageOf(`/api/sessions/${sessionId}/chats`, query, nextCursor, { chats }),
    ),
  ),
});
