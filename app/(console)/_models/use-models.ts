import type { ModelList } from "@/lib/agent/models/contract.ts";
import { useQuery } from "../_hooks/use-query.ts";

export type Model = ModelList["models"][number];

/** Returns the models that can be chosen; undefined until they are loaded. */
export const useModels = () => useQuery<ModelList>("/api/models");
