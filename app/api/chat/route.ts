import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { startTurnContract } from "@/lib/turns/contract.ts";
import { startChatTurn } from "@/lib/turns/start-chat-turn.ts";
import { streamTurn } from "@/lib/turns/stream-turn.ts";
// The Workflow SDK finds the workflow by this import.
import "@/lib/turns/turn-workflow.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(startTurnContract, async ({ app, caller, body, log, request: { signal } }) => {
    const { context, ...turn } = body;
    return streamTurn(app, { accountId: caller.accountId, startIndex: 0, signal }, () =>
      startChatTurn(app, { ...turn, caller, contextLimit: context?.contextLimit, signal, log }),
    );
  }),
});
