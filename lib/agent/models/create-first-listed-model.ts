import type { LanguageModelV4 } from "@ai-sdk/provider";
import { AUTO_MODEL_ID } from "./default-model.ts";

/**
 * A model that finds out its id when it is first called: the first one the server lists.
 * With Ollama or vLLM on one model, the base URL is then all the configuration there is.
 */
export function createFirstListedModel(
  list: () => Promise<readonly string[] | null>,
  open: (id: string) => LanguageModelV4,
): LanguageModelV4 {
  const first = async (): Promise<LanguageModelV4> => {
    const id = (await list())?.[0];
    if (id === undefined) throw new Error("The model server lists no model; set DEFAULT_MODEL");
    return open(id);
  };
  return {
    specificationVersion: "v4",
    provider: "openai-compatible",
    modelId: AUTO_MODEL_ID,
    supportedUrls: {},
    doGenerate: async (options) => (await first()).doGenerate(options),
    doStream: async (options) => (await first()).doStream(options),
  };
}
