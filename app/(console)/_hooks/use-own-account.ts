import type { z } from "zod";
import type { getAccountIdContract } from "@/lib/accounts/contract.ts";
import { useQuery } from "./use-query.ts";

type Account = z.output<(typeof getAccountIdContract)["responses"][200]["schema"]>;

/** Returns the id of the signed-in account; null while it loads. */
export function useOwnAccount(): string | null {
  return useQuery<Account>("/api/accounts/id").data?.accountId ?? null;
}
