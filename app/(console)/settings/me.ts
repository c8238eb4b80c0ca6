import type { z } from "zod";
import type { getAccountContract } from "@/lib/accounts/contract.ts";

/** The response of `GET /api/accounts/me`. */
export type Me = z.output<(typeof getAccountContract)["responses"][200]["schema"]>;
