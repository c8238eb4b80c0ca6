import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listMemoryProposalsContract } from "@/lib/memory/contract.ts";
import { selectProposals } from "@/lib/memory/store.ts";
import { placeOf } from "@/lib/workspace/workspace-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listMemoryProposalsContract, async ({ app, caller, query }) => {
    const page = await selectProposals(app.db, placeOf(caller, query), query);
    return listOf("/api/workspace/memory/proposals", query, "proposals", page);
  }),
});
