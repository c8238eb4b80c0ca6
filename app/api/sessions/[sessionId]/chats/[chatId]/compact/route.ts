import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { compactChat } from "@/lib/context/compact-chat.ts";
import { compactChatContract } from "@/lib/context/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(compactChatContract, ({ app, caller, params }) =>
    answer(compactChat(app, caller, { accountId: caller.accountId, ...params }), (body) => ({
      body,
    })),
  ),
});
