import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { rejectMemoryProposalContract } from "@/lib/memory/contract.ts";
import { rejectProposal } from "@/lib/memory/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(rejectMemoryProposalContract, ({ app, caller, params }) =>
    answer(rejectProposal(app.db, caller.accountId, params.id), (proposal) =>
      success({ proposal }),
    ),
  ),
});
