import type { z } from "zod";
import type { createKeyContract, listKeysContract } from "@/lib/identity/keys/contract.ts";

export type KeyList = z.output<(typeof listKeysContract.responses)[200]["schema"]>;
export type ListedKey = KeyList["keys"][number];
export type CreatedKey = z.output<(typeof createKeyContract.responses)[201]["schema"]>;
