import type { z } from "zod";
import type { listSessionsContract } from "@/lib/sessions/contract.ts";
import { useQuery } from "./use-query.ts";

type Sessions = z.output<(typeof listSessionsContract)["responses"][200]["schema"]>;

/**
 * Returns the id of the signed-in account, taken from its newest session because the API has no
 * operation for it. Null while it loads, and for an account without sessions.
 */
export function useOwnAccount(): string | null {
  return useQuery<Sessions>("/api/sessions?limit=1").data?.sessions[0]?.accountId ?? null;
}
