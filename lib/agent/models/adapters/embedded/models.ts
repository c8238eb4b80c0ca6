import type { ModelProvider } from "../../port.ts";
import { createEmbeddedModel } from "./create-embedded-model.ts";
import { EMBEDDED_MODEL_ID } from "./identity.ts";

/** Provides the rule-based model, under any id. */
export function createEmbeddedModels(): ModelProvider {
  const list = [
    {
      id: EMBEDDED_MODEL_ID,
      name: "Embedded rules (not an AI)",
      provider: "embedded",
      contextWindow: null,
    },
  ];
  return {
    name: "embedded",
    defaultModelId: EMBEDDED_MODEL_ID,
    resolve: () => createEmbeddedModel(),
    list: async () => list,
    price: async () => ({ input: 0, output: 0 }),
  };
}
