import type { z } from "zod";
import type { createKeyContract } from "@/lib/identity/keys/contract.ts";
import type { KeyList } from "../_hooks/shared-reads.ts";

export type ListedKey = KeyList["keys"][number];
export type CreatedKey = z.output<(typeof createKeyContract.responses)[201]["schema"]>;
