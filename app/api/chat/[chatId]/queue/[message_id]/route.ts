import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { removeQueuedMessageContract } from "@/lib/turns/queue-contract.ts";
import { deleteQueuedMessage } from "@/lib/turns/store/queued-turns.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(removeQueuedMessageContract, ({ app, caller, params }) =>
    answer(deleteQueuedMessage(app.db, caller.accountId, params.chatId, params.message_id), done),
  ),
});
