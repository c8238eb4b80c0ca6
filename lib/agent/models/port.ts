/** The port to language models: an AI gateway, an OpenAI-compatible server, or the embedded rules. */
import type { LanguageModelV4 } from "@ai-sdk/provider";

export interface ModelInfo {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
}

export interface ModelProvider {
  readonly name: "gateway" | "openai-compatible" | "embedded";
  /** The model of a chat for which nobody chose one. */
  readonly defaultModelId: string;
  /** Never fails: whether a remote model exists shows when it is called. */
  resolve(modelId: string): LanguageModelV4;
  /** The models a caller may choose; null when they come from a service that does not answer. */
  list(): Promise<readonly ModelInfo[] | null>;
}
