/** The port of language models. */
import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Checkable } from "@platform/kit/outbound/probe";
import type { ModelPrice } from "./model-price.ts";

export interface ModelInfo {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** The context window in tokens; null when the service does not report it. */
  readonly contextWindow: number | null;
  /** The inputs besides text that the model reads, as listed by its service. */
  readonly inputs: readonly ModelInput[];
}

export type ModelInput = "image" | "pdf";

export interface ModelProvider extends Checkable {
  readonly name: "gateway" | "openai-compatible" | "embedded";
  /** The model of a chat for which none was chosen. It may change with the list of the models. */
  readonly defaultModelId: string;
  /** The models that are called while another one fails, in their order, for runs that name none. */
  readonly fallbackModelIds?: readonly string[];
  /** Never throws: a model that does not exist fails when it is called. */
  resolve(modelId: string): LanguageModelV4;
  /**
   * Options with which the provider caches the beginning of prompts; absent where it does so by itself.
   * @param conversation the id of the chat, whose prompts share a prefix
   */
  cacheOptions?(conversation: string): SharedV4ProviderOptions;
  /** Resolves with the models to choose from, or with null when their service does not answer. */
  list(): Promise<readonly ModelInfo[] | null>;
  /** Resolves with the model that an alias such as `auto` stands for at the moment, if it is one. */
  target?(modelId: string): Promise<string | undefined>;
  /** Resolves to the price of the model, or to null when it is not known. */
  price(modelId: string): Promise<ModelPrice | null>;
}
