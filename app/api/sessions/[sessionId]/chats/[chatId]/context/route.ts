import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { getChatContext } from "@/lib/context/chat-context.ts";
import { getChatContextContract } from "@/lib/context/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getChatContextContract, ({ app, caller: { accountId }, params }) =>
    answer(getChatContext(app, { accountId, ...params }), (body) => ({ body })),
  ),
});
