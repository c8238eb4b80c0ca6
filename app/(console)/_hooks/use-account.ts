import type { z } from "zod";
import type { getAccountContract } from "@/lib/accounts/contract.ts";
import { type Query, useQuery } from "./use-query.ts";

/** The response of `GET /api/accounts/me`. */
export type Me = z.output<(typeof getAccountContract)["responses"][200]["schema"]>;

export const useAccount = (): Query<Me> => useQuery<Me>("/api/accounts/me");
