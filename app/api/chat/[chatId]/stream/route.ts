import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { resumeTurnContract } from "@/lib/turns/contract.ts";
import { resumeTurn } from "@/lib/turns/resume-turn.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(resumeTurnContract, ({ app, caller, params, query, request }) =>
    resumeTurn(app, { accountId: caller.accountId, ...params, ...query, request }),
  ),
});
