import { startTurnContract } from "@/lib/chat/contract.ts";
import { startTurn } from "@/lib/chat/start-turn.ts";
import { streamResponse } from "@/lib/chat/stream-response.ts";
import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(startTurnContract, async ({ caller, body, request }) => {
    const turn = await startTurn({
      caller,
      sessionId: body.sessionId,
      chatId: body.chatId,
      messages: body.messages,
      contextLimit: body.context?.contextLimit,
      signal: request.signal,
    });
    return isAppError(turn) ? turn : streamResponse(turn, 0, request.signal);
  }),
});
