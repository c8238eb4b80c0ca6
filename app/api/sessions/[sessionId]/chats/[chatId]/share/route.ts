import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/sessions/shares/contract.ts";
import { shareAnswer, shareChat } from "@/lib/sessions/shares/share-chat.ts";
import { removeShare, selectShare } from "@/lib/sessions/shares/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  PUT: endpoint(contracts.shareChatContract, ({ app, caller: { accountId }, params, body, log }) =>
    answer(shareChat(app, { accountId, log, ...params }, body.files), shareAnswer),
  ),
  GET: endpoint(contracts.getShareContract, ({ app, caller: { accountId }, params }) =>
    answer(selectShare(app.db, { accountId, ...params }), shareAnswer),
  ),
  DELETE: endpoint(contracts.revokeShareContract, ({ app, caller: { accountId }, params }) =>
    answer(removeShare(app.db, { accountId, ...params }), done),
  ),
});
