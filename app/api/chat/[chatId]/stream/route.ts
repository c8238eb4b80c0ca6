import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { resumeTurnContract } from "@/lib/turns/contract.ts";
import { resumeTurn } from "@/lib/turns/resume-turn.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(resumeTurnContract, ({ caller, params, query, request }) =>
    resumeTurn({ accountId: caller.accountId, ...params, ...query, request }),
  ),
});
