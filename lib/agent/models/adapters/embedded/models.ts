import type { ModelProvider } from "../../port.ts";
import { createEmbeddedModel } from "./create-embedded-model.ts";
import { EMBEDDED_MODEL_ID } from "./identity.ts";

/** The rule-based model of this service, under whatever id it is asked for. */
export function createEmbeddedModels(): ModelProvider {
  const list = [
    { id: EMBEDDED_MODEL_ID, name: "Embedded rules (not an AI)", provider: "embedded" },
  ];
  return {
    name: "embedded",
    defaultModelId: EMBEDDED_MODEL_ID,
    resolve: () => createEmbeddedModel(),
    list: async () => list,
  };
}
