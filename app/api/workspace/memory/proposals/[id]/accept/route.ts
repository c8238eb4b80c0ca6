import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { acceptProposal } from "@/lib/memory/accept-proposal.ts";
import { acceptMemoryProposalContract } from "@/lib/memory/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(acceptMemoryProposalContract, ({ app, caller, params }) =>
    answer(acceptProposal(app, caller.accountId, params.id), (proposal) => success({ proposal })),
  ),
});
