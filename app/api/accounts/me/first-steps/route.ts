import { getFirstStepsContract } from "@/lib/accounts/contract.ts";
import { selectFirstSteps } from "@/lib/accounts/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getFirstStepsContract, async ({ caller }) => ({
    body: { status: "success", first_steps: await selectFirstSteps(caller.accountId) },
  })),
});
