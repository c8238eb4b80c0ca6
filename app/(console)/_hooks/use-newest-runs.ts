import type { z } from "zod";
import type { listRunsContract } from "@/lib/turns/run-contract.ts";
import { type Poll, useQuery } from "./use-query.ts";

type Runs = z.output<(typeof listRunsContract)["responses"][200]["schema"]>;

/** Reads the newest runs of the account, once for all that follow them. */
export const useNewestRuns = (poll: Poll<Runs>) => useQuery<Runs>("/api/chat/runs?limit=50", poll);
