import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { removeQueuedMessageContract } from "@/lib/turns/queue-contract.ts";
import { deleteQueuedMessage } from "@/lib/turns/store/queued-turns.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(removeQueuedMessageContract, ({ caller, params }) =>
    answer(deleteQueuedMessage(caller.accountId, params.chatId, params.message_id), done),
  ),
});
