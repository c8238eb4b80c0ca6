import { resumeTurnContract } from "@/lib/chat/contract.ts";
import { resumeTurn } from "@/lib/chat/resume-turn.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(resumeTurnContract, async ({ caller, params, query, request }) =>
    resumeTurn(caller.accountId, params.chatId, query.startIndex, request),
  ),
});
