import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { resumeTurnContract } from "@/lib/turns/contract.ts";
import { resumeTurn } from "@/lib/turns/resume-turn.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(resumeTurnContract, ({ app, caller, params, query, request }) =>
    resumeTurn(app, { accountId: caller.accountId, ...params, ...query, request }),
  ),
});
