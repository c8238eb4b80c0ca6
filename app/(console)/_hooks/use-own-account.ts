import type { z } from "zod";
import type { listSessionsContract } from "@/lib/sessions/contract.ts";
import { useQuery } from "./use-query.ts";

type Sessions = z.output<(typeof listSessionsContract)["responses"][200]["schema"]>;

/**
 * The id of the account that is signed in, as its newest session names it: the API has no place of
 * its own for it. Null while it is not known, and for those who have no session.
 */
export function useOwnAccount(): string | null {
  return useQuery<Sessions>("/api/sessions?limit=1").data?.sessions[0]?.accountId ?? null;
}
