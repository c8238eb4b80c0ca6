import { getAccountIdContract } from "@/lib/accounts/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getAccountIdContract, async ({ caller }) => ({
    body: { status: "success", accountId: caller.accountId },
  })),
});
