import { answer, done, jsonText } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { updateChat } from "@/lib/sessions/change-chat.ts";
import * as contracts from "@/lib/sessions/contract.ts";
import { deleteChat } from "@/lib/sessions/delete-chat.ts";
import { openChat } from "@/lib/sessions/open-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getChatContract, ({ app, caller: { accountId }, params, query }) =>
    answer(openChat(app, { accountId, ...params }, query.include), jsonText),
  ),
  PATCH: endpoint(contracts.updateChatContract, ({ app, caller: { accountId }, params, body }) =>
    answer(updateChat(app, { accountId, ...params }, body), (chat) => ({ body: { chat } })),
  ),
  DELETE: endpoint(contracts.deleteChatContract, ({ app, caller, params }) =>
    answer(deleteChat(app, { accountId: caller.accountId, ...params }), done),
  ),
});
