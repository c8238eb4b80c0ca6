import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listQueuedMessagesContract } from "@/lib/turns/queue-contract.ts";
import { selectQueuedMessages } from "@/lib/turns/store/queued-turns.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listQueuedMessagesContract, ({ app, caller, params }) =>
    answer(selectQueuedMessages(app.db, caller.accountId, params.chatId), ({ messages }) => ({
      body: { status: "success", messages },
    })),
  ),
});
