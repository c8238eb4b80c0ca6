import { stopTurnContract } from "@/lib/chat/contract.ts";
import { stopTurn } from "@/lib/chat/stop-turn.ts";
import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(stopTurnContract, async ({ caller, params }) => {
    const result = await stopTurn(caller.accountId, params.chatId);
    return isAppError(result) ? result : { body: { status: "success", ...result } };
  }),
});
