import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { startTurnContract } from "@/lib/turns/contract.ts";
import { startTurn } from "@/lib/turns/start-turn.ts";
import { streamTurn } from "@/lib/turns/stream-turn.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(startTurnContract, async ({ caller, body, request: { signal } }) => {
    const { sessionId, chatId, messages, context, parentId, onBusy } = body;
    const contextLimit = context?.contextLimit;
    return streamTurn({ accountId: caller.accountId, startIndex: 0, signal }, () =>
      startTurn({ caller, sessionId, chatId, messages, contextLimit, parentId, onBusy, signal }),
    );
  }),
});
