import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { stopTurnContract } from "@/lib/turns/contract.ts";
import { stopTurn } from "@/lib/turns/stop-turn.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(stopTurnContract, async ({ app, caller, params }) => {
    const result = await stopTurn(app, caller.accountId, params.chatId);
    return isAppError(result) ? result : { body: { status: "success", ...result } };
  }),
});
