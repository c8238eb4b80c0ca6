import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { getChatContext } from "@/lib/turns/chat-context.ts";
import { getChatContextContract } from "@/lib/turns/context-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getChatContextContract, ({ app, caller: { accountId }, params }) =>
    answer(getChatContext(app, { accountId, ...params }), (body) => ({ body })),
  ),
});
