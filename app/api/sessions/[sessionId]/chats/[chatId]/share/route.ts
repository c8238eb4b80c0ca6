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
  GET: endpoint(contracts.getShareContract, ({ caller: { accountId }, params }) =>
    answer(selectShare({ accountId, ...params }), shareAnswer),
  ),
  DELETE: endpoint(contracts.revokeShareContract, ({ caller: { accountId }, params }) =>
    answer(removeShare({ accountId, ...params }), done),
  ),
});
