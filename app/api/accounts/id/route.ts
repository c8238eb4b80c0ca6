import { methods } from "@platform/endpoint/methods";
import { getAccountIdContract } from "@/lib/accounts/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getAccountIdContract, async ({ caller }) => ({
    body: { status: "success", accountId: caller.accountId },
  })),
});
